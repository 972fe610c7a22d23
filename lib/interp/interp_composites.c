// SPDX-License-Identifier: MIT
/*
 * interp_composites.c - the operations of core/ops.def that make system calls, in user
 * mode: the calls themselves, one after the other.  An operation that the kernel left between
 * two of its calls goes on there (COSY_UNDER_WAY).
 */
#include <errno.h>
#include <sys/syscall.h>

#include "process/cancel.h"
#include "interp/fast_calls.h"
#include "interp/interp_ops.h"
#include "syscall.h"

#define P(n) ((void *)r[n])
#define I(n) ((int)r[n])

static s64 system_call(const struct libcosy_interp *in, u32 number, const u64 *r)
{
	if (in->cancel)
		return libcosy_cancellable_call(number, r);
	return cosy_syscall6(number, r[1], r[2], r[3], r[4], 0, 0);
}

#define AS_CALLS(name, expression)                                                                 \
	u64 libcosy_interp_##name(struct libcosy_interp *in, const u64 *r)                         \
	{                                                                                          \
		(void)in;                                                                          \
		return expression;                                                                 \
	}

AS_CALLS(view_read, system_call(in, SYS_read, r))
AS_CALLS(view_pread, system_call(in, SYS_pread64, r))
AS_CALLS(readc, libcosy_do_readc(I(1)))
AS_CALLS(loan, libcosy_do_loan(I(1), P(2), r[3], I(4)))
AS_CALLS(transfer, libcosy_do_transfer(I(1), P(2), r[3], I(4)))
AS_CALLS(pass, libcosy_do_pass(I(1), r[2], P(3), r[4], I(5)))
AS_CALLS(flush, libcosy_do_flush(P(1), r[2]))
AS_CALLS(lend, libcosy_do_lend(I(1), P(2), r[3], I(4)))

/*
 * Makes the seek before the read or write.  True: the operation ends here, with *result or with
 * in->left.
 */
static bool seek_ends(struct libcosy_interp *in, s64 *result)
{
	u64 *r = in->state->reg;

	if (COSY_IS_UNDER_WAY(r[5]))
		return false;
	*result = libcosy_do_seek(I(1), r[4], I(5));
	if (*result < 0)
		return true;
	r[5] = COSY_UNDER_WAY | (u32)r[5];
	return libcosy_interp_leaves(in);
}

u64 libcosy_interp_seek_read(struct libcosy_interp *in, const u64 *r)
{
	s64 result;

	return seek_ends(in, &result) ? result : system_call(in, SYS_read, r);
}

u64 libcosy_interp_seek_write(struct libcosy_interp *in, const u64 *r)
{
	s64 result;

	return seek_ends(in, &result) ? result : system_call(in, SYS_write, r);
}

/*
 * --- Operations of any number of calls ------------------------------------------------------
 *
 * They may have to leave after any of them, and so make one whenever they go on.
 */

static s64 whole_file(struct libcosy_interp *in, bool writes)
{
	u64 *r = in->state->reg;
	s64 n;

	if (!COSY_IS_UNDER_WAY(r[5])) {
		n = libcosy_do_file_open(I(1), P(2), I(5), writes);
		if (n < 0)
			return n;
		r[1] = n;
		r[2] = 0;
		r[5] = COSY_UNDER_WAY | (u32)r[5];
		if (libcosy_interp_leaves(in))
			return 0;
	}
	while (r[4] && (s64)r[2] >= 0) {
		n = libcosy_do_file_some(I(1), P(3), r[4], writes);
		if (n > 0) {
			r[2] += n;
			r[3] += n;
			r[4] -= n;
		} else {
			r[2] = n < 0 ? (u64)n : r[2];
			r[4] = 0;
		}
		if (libcosy_interp_leaves(in))
			return 0;
	}
	return libcosy_do_file_rest(I(1), r[2], NULL, 0, writes);
}

u64 libcosy_interp_read_file(struct libcosy_interp *in, const u64 *r)
{
	(void)r;
	return whole_file(in, false);
}

u64 libcosy_interp_write_file(struct libcosy_interp *in, const u64 *r)
{
	(void)r;
	return whole_file(in, true);
}

/* Examines the entries that r1-r5 describe. */
static s64 scan_rest(struct libcosy_interp *in)
{
	u64 *r = in->state->reg;
	s64 size;

	while (r[3]) {
		size = libcosy_do_scan_examine(I(1), P(2), r[3], I(4));
		if (size < 0)
			return size;
		r[2] += size;
		r[3] -= size;
		r[5] += size;
		if (r[3] && libcosy_interp_leaves(in))
			return 0;
	}
	return r[5];
}

u64 libcosy_interp_scan_dir(struct libcosy_interp *in, const u64 *arguments)
{
	u64 *r = in->state->reg;
	s64 n;

	(void)arguments;
	if (COSY_IS_UNDER_WAY(r[4]))
		return r[3] > COSY_MAX_LISTED ? -EINVAL : scan_rest(in);
	if (!in->max_ns)
		return libcosy_do_scan_dir(I(1), P(2), r[3], I(4));
	/* Entries taken from the directory must be reported, so these are enough. */
	n = libcosy_do_scan_list(I(1), P(2), r[3], true);
	if (n <= 0)
		return n;
	r[3] = n;
	r[4] = COSY_UNDER_WAY | (u32)r[4];
	r[5] = 0;
	return libcosy_interp_leaves(in) ? 0 : scan_rest(in);
}

u64 libcosy_interp_scan_tree(struct libcosy_interp *in, const u64 *r)
{
	return libcosy_do_scan_tree(in, P(1), P(2), r[3]);
}

u64 libcosy_interp_epoll_read(struct libcosy_interp *in, const u64 *arguments)
{
	u64 *r = in->state->reg;
	s64 count;

	(void)arguments;
	if (!COSY_IS_UNDER_WAY(r[5])) {
		count = libcosy_do_epoll_wait(I(1), r[2], r[3], r[4], I(5));
		if (count <= 0)
			return count;
		r[1] = count;
		r[5] = COSY_UNDER_WAY;
		if (libcosy_interp_leaves(in))
			return 0;
	} else {
		/* Refuses arguments that it cannot continue with; reads nothing. */
		count = libcosy_do_epoll_read_rest(r[1], r[2], r[3], r[4], r[1]);
		if (count < 0)
			return count;
	}
	while ((u32)r[5] < r[1]) {
		libcosy_do_epoll_arrival(r[2], r[3], r[4], r[5]++);
		if (libcosy_interp_leaves(in))
			return 0;
	}
	return r[1];
}
