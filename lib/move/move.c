// SPDX-License-Identifier: MIT
/*
 * move.c - <cosy/move.h>: the module's operations, or plain calls where they cannot serve.
 *
 * The module answers EOPNOTSUPP, before it has done anything, where only the plain call can.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cosy/move.h>
#include <linux/cosy.h>

#include "move/arena.h"
#include "move/ranges.h"

#define OWN_FLAGS  (COSY_GIVE | COSY_POPULATE | COSY_WILL_WRITE)
#define SEND_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE) /* which the module also has */

_Static_assert(COSY_GIVE == COSY_MOVE_OP_GIVE && COSY_POPULATE == COSY_MOVE_OP_POPULATE &&
		       COSY_WILL_WRITE == COSY_MOVE_OP_WILL_WRITE,
	       "the operations take the flags of <cosy/move.h>");

/* --- Memory ---------------------------------------------------------------------------------- */

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

int cosy_flush(void *memory, size_t count)
{
	return libcosy_ranges_flush(memory, count);
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

bool libcosy_own(void *memory, size_t count)
{
	size_t whole = libcosy_whole_pages(count);
	int emptied = 0;

	if (!libcosy_ranges_replace(memory, whole))
		return false;
	if (libcosy_arenas_may_have_written(memory, whole))
		emptied = libcosy_arenas_empty(memory, whole);
	if (emptied < 0)
		errno = -emptied;
	return emptied >= 0;
}

void cosy_look(void *to, const void *memory, size_t count)
{
	memcpy(to, memory, count);
}
