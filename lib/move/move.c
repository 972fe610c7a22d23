// SPDX-License-Identifier: MIT
/*
 * move.c - <cosy/move.h>: the module's operations, or plain calls where they cannot serve.
 *
 * The module answers EOPNOTSUPP, before it has done anything, where only the plain call can.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cosy/move.h>
#include <linux/cosy.h>

#include "region/cancel.h"
#include "process/context.h"
#include "move/arena.h"
#include "move/ranges.h"

#define OWN_FLAGS  (COSY_GIVE | COSY_POPULATE | COSY_WILL_WRITE)
#define SEND_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE) /* which the module also has */

_Static_assert(COSY_GIVE == COSY_MOVE_OP_GIVE && COSY_POPULATE == COSY_MOVE_OP_POPULATE &&
		       COSY_WILL_WRITE == COSY_MOVE_OP_WILL_WRITE,
	       "the operations take the flags of <cosy/move.h>");

/* --- Where arenas are ---------------------------------------------------------------------- */

/*
 * All arenas lie between these two, except those that the program has moved, so other memory seldom
 * needs a query of the kernel.
 */
static uintptr_t arenas_low = UINTPTR_MAX, arenas_high;
static bool arenas_pinnable; /* some are, or were */

void libcosy_arenas_add(const void *memory, size_t count)
{
	uintptr_t from = (uintptr_t)memory, to = from + count;
	uintptr_t low = __atomic_load_n(&arenas_low, __ATOMIC_RELAXED);
	uintptr_t high = __atomic_load_n(&arenas_high, __ATOMIC_RELAXED);

	while (from < low && !__atomic_compare_exchange_n(&arenas_low, &low, from, true,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	while (to > high && !__atomic_compare_exchange_n(&arenas_high, &high, to, true,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

bool libcosy_arenas_may_have(const void *memory, size_t count)
{
	uintptr_t from = (uintptr_t)memory;

	return from + count > __atomic_load_n(&arenas_low, __ATOMIC_RELAXED) &&
	       from < __atomic_load_n(&arenas_high, __ATOMIC_RELAXED);
}

bool libcosy_arenas_exist(void)
{
	return __atomic_load_n(&arenas_high, __ATOMIC_RELAXED);
}

/* --- The kernel ------------------------------------------------------------------------------ */

static bool has_kernel(void)
{
	return libcosy_context_open() && libcosy_context_fd() >= 0;
}

/*
 * True if the descriptor is still our context's: the program may have closed it, or inherited
 * it.
 */
static bool context_answers(void)
{
	struct cosy_version version = {.size = sizeof(version)};

	return !libcosy_context_ioctl(COSY_IOC_VERSION, &version);
}

long libcosy_move(uint32_t operation, const void *memory, size_t count, int fd, uint32_t flags)
{
	struct cosy_move move = {
		.operation = operation,
		.address = (uintptr_t)memory,
		.length = count,
		.fd = fd,
		.flags = flags,
	};

	return libcosy_move_make(&move);
}

static bool operation_waits(uint32_t operation)
{
	return operation == COSY_MOVE_LOAN || operation == COSY_MOVE_TRANSFER ||
	       operation == COSY_MOVE_PASS || operation == COSY_MOVE_TAKE;
}

long libcosy_move_make(struct cosy_move *move)
{
	uint32_t generation = libcosy_generation();
	long ret;

	if (!generation)
		generation = libcosy_context_open();
	move->size = sizeof(*move);
	if (!generation || libcosy_context_fd() < 0)
		return -EOPNOTSUPP;
	/*
	 * A thread that is alone is cancelled by nobody; libc's own calls do not look then, either.
	 */
	if (!__libc_single_threaded && operation_waits(move->operation)) {
		const u64 r[10] = {0, (unsigned int)libcosy_context_fd(), COSY_IOC_MOVE,
				   (uintptr_t)move};

		ret = libcosy_cancellable_call(SYS_ioctl, r);
	} else {
		ret = libcosy_context_ioctl(COSY_IOC_MOVE, move);
	}
	if (ret >= 0)
		return ret;
	if (ret == -ENOTTY || ret == -EXDEV || (ret == -EBADF && !context_answers())) {
		libcosy_context_lost(generation);
		return -EOPNOTSUPP;
	}
	return ret;
}

uint32_t libcosy_move_flags(int flags)
{
	return (flags & COSY_GIVE ? COSY_MOVE_GIVE : 0) |
	       (flags & COSY_POPULATE ? COSY_MOVE_POPULATE : 0) |
	       (flags & COSY_WILL_WRITE ? COSY_MOVE_WILL_WRITE : 0) |
	       (flags & MSG_NOSIGNAL ? COSY_MOVE_NOSIGNAL : 0) |
	       (flags & MSG_DONTWAIT ? COSY_MOVE_DONTWAIT : 0) |
	       (flags & MSG_MORE ? COSY_MOVE_MORE : 0);
}

/* --- Memory ---------------------------------------------------------------------------------- */

void *libcosy_arena_map(size_t size, uint32_t flags)
{
	struct cosy_arena_request request = {
		.size = sizeof(request), .flags = flags, .length = size};
	void *memory = MAP_FAILED;
	long fd = -1;

	if (has_kernel())
		fd = libcosy_context_ioctl(COSY_IOC_ARENA, &request);
	if (fd >= 0) {
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
		close((int)fd);
	}
	if (memory == MAP_FAILED)
		return memory;
	libcosy_arenas_add(memory, size);
	if (flags & COSY_ARENA_PINNABLE)
		__atomic_store_n(&arenas_pinnable, true, __ATOMIC_RELAXED);
	return memory;
}

void *cosy_move_alloc(size_t size, unsigned int flags)
{
	size_t mapped = libcosy_whole_pages(size);
	int saved = errno;
	void *memory;

	if (flags & ~COSY_MOVE_PINNABLE || !mapped) {
		errno = flags & ~COSY_MOVE_PINNABLE || !size ? EINVAL : ENOMEM;
		return NULL;
	}
	memory = libcosy_arena_map(mapped, flags & COSY_MOVE_PINNABLE ? COSY_ARENA_PINNABLE : 0);
	errno = saved;
	if (memory == MAP_FAILED)
		memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	return memory == MAP_FAILED ? NULL : memory;
}

void cosy_move_free(void *memory, size_t size)
{
	int saved = errno;

	if (memory) {
		libcosy_ranges_forget(memory, libcosy_whole_pages(size));
		munmap(memory, libcosy_whole_pages(size));
	}
	errno = saved;
}

/* --- Loan and transfer ---------------------------------------------------------------------- */

static bool can_move(const void *memory, size_t count, int flags)
{
	return count >= COSY_MOVE_MIN && !(flags & ~OWN_FLAGS) && libcosy_is_whole(memory, 0) &&
	       libcosy_arenas_may_have(memory, 1);
}

bool libcosy_move_is_refused(long ret)
{
	return ret == -EOPNOTSUPP || ret == -EFAULT || ret == -EINVAL || ret == -ENOMEM;
}

/* Makes the plain call. */
static ssize_t loan_plain(int fd, const void *memory, size_t count, int flags)
{
	int own = flags & ~OWN_FLAGS, saved;
	ssize_t sent = own ? send(fd, memory, count, own) : write(fd, memory, count);

	saved = errno;
	if (sent >= (ssize_t)PAGE && flags & COSY_GIVE && libcosy_is_whole(memory, 0))
		cosy_flush((void *)(uintptr_t)memory, (size_t)sent & ~(PAGE - 1));
	errno = saved;
	return sent;
}

/* True if a loan was short since the next page is no arena's. */
static bool loan_left_arena(const char *memory, size_t count, size_t lent)
{
	return lent < count && libcosy_is_whole(memory + lent, 0) &&
	       libcosy_move(COSY_MOVE_READY, memory + lent, PAGE, -1, 0) == -EFAULT;
}

ssize_t cosy_loan(int fd, const void *memory, size_t count, int flags)
{
	const char *bytes = memory;
	ssize_t sent;
	long ret;

	if (!can_move(memory, count, flags & ~SEND_FLAGS))
		return loan_plain(fd, memory, count, flags);
	ret = libcosy_move(COSY_MOVE_LOAN, memory, count, fd,
			   libcosy_move_flags(flags & (COSY_GIVE | SEND_FLAGS)));
	if (libcosy_move_is_refused(ret))
		return loan_plain(fd, memory, count, flags);
	if (ret <= 0 || !loan_left_arena(bytes, count, (size_t)ret))
		return libcosy_move_answer(ret);
	sent = loan_plain(fd, bytes + ret, count - (size_t)ret, flags);
	return sent > 0 ? ret + sent : ret;
}

ssize_t cosy_transfer(int fd, void *memory, size_t count, int flags)
{
	int own = flags & ~OWN_FLAGS;
	long ret;

	if (can_move(memory, count, flags)) {
		ret = libcosy_move(COSY_MOVE_TRANSFER, memory, count, fd,
				   libcosy_move_flags(flags & (COSY_POPULATE | COSY_WILL_WRITE)));
		if (!libcosy_move_is_refused(ret))
			return libcosy_move_answer(ret);
	}
	if (!libcosy_ranges_fill(memory, count))
		return -1;
	return own ? recv(fd, memory, count, own) : read(fd, memory, count);
}

/* --- Without another process ---------------------------------------------------------------- */

/*
 * Clears whole pages by the kernel's own means.  False where pages of an arena may be left: it
 * refuses this, and a pinnable one keeps its pages in spite of it.
 */
static bool memory_discard(char *memory, size_t count)
{
	return !madvise(memory, count, MADV_DONTNEED) &&
	       !__atomic_load_n(&arenas_pinnable, __ATOMIC_RELAXED);
}

/*
 * Puts ordinary memory in place of an arena's, whose pages may be shared, or gone, where there is
 * no context to empty it by: a fork child may get none.  Returns as arena_empty does.
 */
static int arena_replace(char *memory, size_t count)
{
	if (memory_discard(memory, count))
		return 0;
	if (mmap(memory, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return -ENOMEM;
	return 1;
}

/*
 * Empties what pages an arena has there.  Returns 1: all of the memory is empty now; 0: the rest is
 * no arena's; -ENOMEM: pages that must not be written may be left.
 */
static int arena_empty(char *memory, size_t count)
{
	long ret = libcosy_move(COSY_MOVE_FLUSH, memory, count, -1, 0);

	/* A context that was lost is opened again by the next call. */
	if (ret == -EOPNOTSUPP)
		ret = libcosy_move(COSY_MOVE_FLUSH, memory, count, -1, 0);
	if (ret == -EOPNOTSUPP)
		return arena_replace(memory, count);
	if (ret >= 0)
		return 1;
	for (size_t done = 0; done < count; done += PAGE)
		libcosy_move(COSY_MOVE_FLUSH, memory + done, PAGE, -1, 0);
	return 0;
}

/*
 * Clears whole pages; where one of an arena may be, what is left is written, page by page.  Returns
 * 0 or -ENOMEM, with pages that must not be written.
 */
static int memory_clear(char *memory, size_t count)
{
	int emptied = 0;

	if (memory_discard(memory, count))
		return 0;
	/* Pages of an arena that was moved may be shared, or gone. */
	if (!libcosy_arenas_may_have(memory, count) && libcosy_arenas_exist())
		emptied = arena_empty(memory, count);
	if (emptied)
		return emptied < 0 ? emptied : 0;
	for (char *end = memory + count; memory < end; memory += PAGE) {
		if (memory[0] || memcmp(memory, memory + 1, PAGE - 1))
			memset(memory, 0, PAGE);
	}
	return 0;
}

int cosy_flush(void *memory, size_t count)
{
	int saved = errno, emptied = 0;

	if (!libcosy_is_whole(memory, count)) {
		errno = EINVAL;
		return -1;
	}
	if (!count)
		return 0;
	if (!libcosy_ranges_replace(memory, count))
		return -1;
	if (libcosy_arenas_may_have(memory, count))
		emptied = arena_empty(memory, count);
	if (!emptied)
		emptied = memory_clear(memory, count);
	if (emptied < 0)
		return (int)libcosy_move_answer(emptied);
	errno = saved;
	return 0;
}

int cosy_ready(void *memory, size_t count, int flags)
{
	int saved = errno;
	long ret = -EFAULT;

	if (!libcosy_is_whole(memory, count) || flags & ~(COSY_POPULATE | COSY_WILL_WRITE)) {
		errno = EINVAL;
		return -1;
	}
	if (!count)
		return 0;
	if (libcosy_arenas_may_have(memory, 1))
		ret = libcosy_move(COSY_MOVE_READY, memory, count, -1,
				   libcosy_move_flags(flags & COSY_WILL_WRITE));
	if (ret == -ENOMEM)
		return (int)libcosy_move_answer(ret);
	/* Ignore failures: a page that is not there yet will be when it is touched. */
	if (ret < 0)
		madvise(memory, count,
			flags & COSY_WILL_WRITE ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	errno = saved;
	return 0;
}

/*
 * True if an arena may have some of the memory, all of which is to be written.  Pages of one
 * that was moved cannot be made present by this, unless it is pinnable; other memory's save faults.
 */
static bool arenas_may_have_written(char *memory, size_t count)
{
	if (libcosy_arenas_may_have(memory, count))
		return true;
	return libcosy_arenas_exist() && (__atomic_load_n(&arenas_pinnable, __ATOMIC_RELAXED) ||
					  madvise(memory, count, MADV_POPULATE_WRITE));
}

bool libcosy_own(void *memory, size_t count)
{
	size_t whole = libcosy_whole_pages(count);
	int emptied = 0;

	if (!libcosy_ranges_replace(memory, whole))
		return false;
	if (arenas_may_have_written(memory, whole))
		emptied = arena_empty(memory, whole);
	if (emptied < 0)
		errno = -emptied;
	return emptied >= 0;
}

void cosy_look(void *to, const void *memory, size_t count)
{
	memcpy(to, memory, count);
}
