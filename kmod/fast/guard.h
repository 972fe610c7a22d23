/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guard.h - guards: counting failures, and the kernel's own call, which then replaces the
 * specialised version.  Used by specialised versions and views.
 */
#ifndef COSY_GUARD_H
#define COSY_GUARD_H

#include <linux/errno.h>
#include "run/activation.h"

struct pt_regs;

enum cosy_guard {
#define COSY_GUARD(guard, name, relies, breaks) COSY_GUARD_##guard,
#include "guards.def"
#undef COSY_GUARD
	COSY_GUARD_CNT
};

/* No guard: all of them hold. */
#define COSY_GUARDS_HOLD COSY_GUARD_CNT

/* The answer of a specialised version whose guard failed: no result of any call. */
#define COSY_ORDINARY S64_MIN

/*
 * Ends a failed guard FRESH, if run->unfresh says that there was one: the ordinary read or
 * write of that file system returned `result`.  No error: the file system is fresh.
 */
void cosy_fresh_end(struct cosy_activation *run, s64 result);

/* Takes all file systems for changed, in this RUN. */
void cosy_fresh_forget(struct cosy_activation *run);

/* Starts a RUN: file systems that were made fresh in this jiffy still are. */
void cosy_fresh_init(struct cosy_activation *run);

/* Counts a failed guard.  Returns COSY_ORDINARY, for `return cosy_guard_failed(...)`. */
s64 cosy_guard_failed(struct cosy_activation *run, enum cosy_guard guard);

/*
 * Makes system call `number` as the kernel makes it, after cosy_held_drop.  Sets run->status if
 * the result is a restart code.  The caller then returns, and the call in progress, which must be
 * able to start over, leaves.
 */
s64 cosy_ordinary(struct cosy_activation *run, u32 number, u64 a, u64 b, u64 c, u64 d);

/* The same with all six arguments, in the registers of a system call. */
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

/*
 * Writes views back into the shared buffer and drops all else that specialised versions hold.
 * Called before sleeping, at every safepoint and at the end.  Cannot fail.
 */
void cosy_held_drop(struct cosy_activation *run);

#endif /* COSY_GUARD_H */
