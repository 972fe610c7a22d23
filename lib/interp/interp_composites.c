// SPDX-License-Identifier: MIT
/*
 * interp_composites.c - the operations of core/ops.def that make system calls, in user
 * mode: the calls themselves, one after the other.  An operation that the kernel left between
 * two of its calls goes on there (COSY_UNDER_WAY).
 */
#include <sys/syscall.h>

#include "region/cancel.h"
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
AS_CALLS(seek_read, COSY_IS_UNDER_WAY(r[5]) ? system_call(in, SYS_read, r)
					    : libcosy_do_seek_read(I(1), P(2), r[3], r[4], I(5)))
AS_CALLS(seek_write, COSY_IS_UNDER_WAY(r[5]) ? system_call(in, SYS_write, r)
					     : libcosy_do_seek_write(I(1), P(2), r[3], r[4], I(5)))
AS_CALLS(read_file, COSY_IS_UNDER_WAY(r[5]) ? libcosy_do_read_rest(I(1), r[2], P(3), r[4])
					    : libcosy_do_read_file(I(1), P(2), P(3), r[4], I(5)))
AS_CALLS(write_file, COSY_IS_UNDER_WAY(r[5]) ? libcosy_do_write_rest(I(1), r[2], P(3), r[4])
					     : libcosy_do_write_file(I(1), P(2), P(3), r[4], I(5)))
AS_CALLS(scan_dir, COSY_IS_UNDER_WAY(r[4]) ? libcosy_do_scan_rest(I(1), P(2), r[3], I(4), r[5])
					   : libcosy_do_scan_dir(I(1), P(2), r[3], I(4)))
AS_CALLS(scan_tree, libcosy_do_scan_tree(P(1), P(2), r[3]))
AS_CALLS(epoll_read, COSY_IS_UNDER_WAY(r[5])
			     ? libcosy_do_epoll_read_rest(r[1], r[2], r[3], r[4], r[5])
			     : libcosy_do_epoll_read(I(1), r[2], r[3], r[4], I(5)))
AS_CALLS(loan, libcosy_do_loan(I(1), P(2), r[3], I(4)))
AS_CALLS(transfer, libcosy_do_transfer(I(1), P(2), r[3], I(4)))
AS_CALLS(pass, libcosy_do_pass(I(1), r[2], P(3), r[4], I(5)))
AS_CALLS(flush, libcosy_do_flush(P(1), r[2]))
AS_CALLS(lend, libcosy_do_lend(I(1), P(2), r[3], I(4)))
