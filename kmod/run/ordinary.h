/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ordinary.h - the kernel's own calls, which composites consist of and which replace a specialised
 * version whose guard failed.
 */
#ifndef COSY_RUN_ORDINARY_H
#define COSY_RUN_ORDINARY_H

#include <linux/errno.h>
#include "run/activation.h"

struct pt_regs;

/*
 * Makes system call `number` as the kernel makes it.  Before it, drops what is held
 * (cosy_held_drop_for), because the call may sleep, and forgets the files of descriptors, because it
 * may close them.  After it, ends a failed guard FRESH (fresh.h).  Returns the call's result.  If
 * that is a restart code, run->status is set; the caller then returns, and the call in progress,
 * which must be able to start over, leaves.
 */
s64 cosy_ordinary(struct cosy_activation *run, u32 number, u64 a, u64 b, u64 c, u64 d);

/* Does the same with all six arguments, in the registers of a system call. */
s64 cosy_ordinary_regs(struct cosy_activation *run, u32 number, const struct pt_regs *regs);

/*
 * Returns `result`, and sets run->status if it is a restart code; then nothing may have been done.
 * For results of parts of a call that a specialised version makes itself.
 */
static __always_inline s64 cosy_call_result(struct cosy_activation *run, s64 result)
{
	if (likely(result > -ERESTARTSYS || result < -ERESTART_RESTARTBLOCK ||
		   result == -ENOIOCTLCMD))
		return result;
	run->code = result;
	cosy_leave_at(run, COSY_LEFT_CALL, run->insn, 0);
	return result;
}

#endif /* COSY_RUN_ORDINARY_H */
