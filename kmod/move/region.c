// SPDX-License-Identifier: GPL-2.0
/*
 * region.c - loan, transfer, flush and pass as operations of compounds.
 *
 * They have the effect of the functions of <cosy/move.h>: they move pages if possible, and
 * otherwise make the plain call.  They leave, and libcosy makes its own call, if more than that
 * call is needed, or if only libcosy knows the kind of the memory (shared by a memfd, gone).
 */
#include <linux/file.h>
#include <linux/ptrace.h>
#include <linux/socket.h>
#include <linux/unistd.h>
#include <linux/cosy.h>
#include "fast/descriptor.h"
#include "fast/fast.h"
#include "fast/socket_kind.h"
#include "move/arena.h"
#include "move/move.h"
#include "run/held.h"
#include "run/limits.h"
#include "run/ordinary.h"

#define OWN_FLAGS  (COSY_MOVE_OP_GIVE | COSY_MOVE_OP_POPULATE | COSY_MOVE_OP_WILL_WRITE)
#define SEND_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE)

/* Has libcosy make the operation. */
static s64 region_leave(struct cosy_activation *run)
{
	cosy_leave_at(run, COSY_LEFT_NATIVE, run->insn, 0);
	return 0;
}

/* Returns whether nothing was done, since the memory is no arena's or the file of another kind. */
static bool region_is_refused(s64 result)
{
	return result == -EOPNOTSUPP || result == -EFAULT || result == -EINVAL || result == -ENOMEM;
}

/* Returns whether pages can be moved; the other arguments are the kernel's to check. */
static bool region_may_move(const u64 *r, u32 known_flags)
{
	return r[3] >= COSY_MOVE_MIN && r[3] <= MAX_RW_COUNT && !(r[2] & ~PAGE_MASK) &&
	       !((u32)r[4] & ~known_flags);
}

static u32 region_flags(u32 flags)
{
	return (flags & COSY_MOVE_OP_GIVE ? COSY_MOVE_GIVE : 0) |
	       (flags & COSY_MOVE_OP_POPULATE ? COSY_MOVE_POPULATE : 0) |
	       (flags & COSY_MOVE_OP_WILL_WRITE ? COSY_MOVE_WILL_WRITE : 0) |
	       (flags & MSG_NOSIGNAL ? COSY_MOVE_NOSIGNAL : 0) |
	       (flags & MSG_DONTWAIT ? COSY_MOVE_DONTWAIT : 0) |
	       (flags & MSG_MORE ? COSY_MOVE_MORE : 0);
}

/* Moves pages.  It may sleep, so nothing is kept from earlier calls. */
static s64 region_move(struct cosy_activation *run, const struct cosy_move *move)
{
	if (run->held)
		cosy_held_drop(run);
	cosy_descriptors_forget(&run->descriptors);
	return cosy_move(run->context, move);
}

static s64 region_move_by_file(struct cosy_activation *run, const u64 *r, u32 operation, u32 flags)
{
	const struct cosy_move move = {
		.operation = operation,
		.address = r[2],
		.length = r[3],
		.fd = r[1],
		.flags = flags,
	};

	return region_move(run, &move);
}

s64 cosy_op_loan(struct cosy_activation *run, u64 *r)
{
	u32 plain = (u32)r[4] & ~OWN_FLAGS, flags = region_flags(r[4]);
	s64 result = -EOPNOTSUPP;

	if (region_may_move(r, COSY_MOVE_OP_GIVE | SEND_FLAGS)) {
		result = region_move_by_file(run, r, COSY_MOVE_LOAN, flags | COSY_MOVE_WHOLE);
		if (unlikely(result == -ERANGE)) {
			/* A loan that ends where the arena does goes on by a plain call. */
			if (cosy_arena_extent(r[2], r[3]) < r[3])
				return region_leave(run);
			result = region_move_by_file(run, r, COSY_MOVE_LOAN, flags);
		}
	}
	if (!region_is_refused(result)) {
		run->fast++;
		return cosy_call_result(run, result);
	}
	if (r[4] & COSY_MOVE_OP_GIVE)
		return region_leave(run);
	return cosy_ordinary(run, plain ? __NR_sendto : __NR_write, r[1], r[2], r[3], plain);
}

/*
 * Returns whether a read that fails with EFAULT has taken nothing, so that libcosy may read again:
 * a datagram would be gone.
 */
static bool region_reads_again(u32 number)
{
	struct fd f = fdget(number);
	bool again = false;

	if (fd_file(f)) {
		struct socket *socket = sock_from_file(fd_file(f));
		umode_t mode = file_inode(fd_file(f))->i_mode;

		again = socket ? cosy_socket_kind(socket) & COSY_SOCKET_KEEPS
			       : S_ISREG(mode) || S_ISFIFO(mode);
	}
	fdput(f);
	return again;
}

s64 cosy_op_transfer(struct cosy_activation *run, u64 *r)
{
	u32 plain = (u32)r[4] & ~OWN_FLAGS;
	s64 result = -EOPNOTSUPP;

	if (region_may_move(r, OWN_FLAGS))
		result = region_move_by_file(run, r, COSY_MOVE_TRANSFER,
					     region_flags(r[4] & ~COSY_MOVE_OP_GIVE));
	if (!region_is_refused(result)) {
		run->fast++;
		return cosy_call_result(run, result);
	}
	if (result == -EFAULT || !region_reads_again(r[1]))
		return region_leave(run);
	result = cosy_ordinary(run, plain ? __NR_recvfrom : __NR_read, r[1], r[2], r[3], plain);
	/* Memory that is gone becomes ordinary memory again before it is read into. */
	return result == -EFAULT ? region_leave(run) : result;
}

s64 cosy_op_flush(struct cosy_activation *run, u64 *r)
{
	const struct cosy_move move = {
		.operation = COSY_MOVE_FLUSH,
		.address = r[1],
		.length = r[2],
		.fd = -1,
	};
	s64 result = region_move(run, &move);

	if (unlikely(result < 0))
		return region_leave(run);
	run->fast++;
	return result;
}

/* Passes whole messages of arenas; libcosy copies the others. */
s64 cosy_op_pass(struct cosy_activation *run, u64 *r)
{
	u32 how = r[5];
	const struct cosy_move move = {
		.operation = COSY_MOVE_PASS,
		.address = r[3],
		.length = r[4],
		.fd = r[1],
		.at = r[2],
		.how = how + COSY_MOVE_SHARE,
	};
	s64 result;

	if (how > COSY_MOVE_DONATE_ZERO - COSY_MOVE_SHARE)
		return region_leave(run);
	result = region_move(run, &move);
	if (region_is_refused(result))
		return region_leave(run);
	run->fast++;
	return cosy_call_result(run, result);
}
