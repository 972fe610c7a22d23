// SPDX-License-Identifier: MIT
/* arena.c - see arena.h. */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cosy/move.h>
#include <linux/cosy.h>

#include "process/cancel.h"
#include "process/context.h"
#include "move/arena.h"

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

bool libcosy_move_is_refused(long ret)
{
	return ret == -EOPNOTSUPP || ret == -EFAULT || ret == -EINVAL || ret == -ENOMEM;
}

/* --- Emptying memory ------------------------------------------------------------------------- */

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
 * no context to empty it by: a fork child may get none.  Returns as libcosy_arenas_empty does.
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

int libcosy_arenas_empty(char *memory, size_t count)
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

/* Writes what is left, page by page, where a page of an arena may be. */
int libcosy_arenas_clear(char *memory, size_t count)
{
	int emptied = 0;

	if (memory_discard(memory, count))
		return 0;
	/* Pages of an arena that was moved may be shared, or gone. */
	if (!libcosy_arenas_may_have(memory, count) && libcosy_arenas_exist())
		emptied = libcosy_arenas_empty(memory, count);
	if (emptied)
		return emptied < 0 ? emptied : 0;
	for (char *end = memory + count; memory < end; memory += PAGE) {
		if (memory[0] || memcmp(memory, memory + 1, PAGE - 1))
			memset(memory, 0, PAGE);
	}
	return 0;
}

/* Pages of an arena that was moved cannot be made present by this, unless it is pinnable. */
bool libcosy_arenas_may_have_written(char *memory, size_t count)
{
	if (libcosy_arenas_may_have(memory, count))
		return true;
	return libcosy_arenas_exist() && (__atomic_load_n(&arenas_pinnable, __ATOMIC_RELAXED) ||
					  madvise(memory, count, MADV_POPULATE_WRITE));
}
