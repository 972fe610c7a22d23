/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fast.h - specialised versions of system calls.
 *
 * A specialised version (in this folder and view/) has the effect of its call, but omits work that
 * earlier calls of the same RUN have done, while its guards hold (core/guards.def,
 * docs/inside/fast.md).  If a guard fails, the version has changed nothing and returns
 * COSY_ORDINARY.  The kernel's own system call then runs: Synthetix's replugging (SOSP 1995,
 * section 3.4) for a single call.
 *
 * Path of a call: compiled code -> cosy_thunk_NAME (call.S) -> cosy_call_NAME (fast.c) ->
 * cosy_fast_NAME.  `r` is r0-r5: arguments are r[1] up, and r[0] is the sixth one.
 */
#ifndef COSY_FAST_H
#define COSY_FAST_H

#include "fast/guard.h"

/*
 * The specialised version of each COSY_FAST_CALL of ops.def.  Returns the call's result,
 * COSY_ORDINARY, or anything with run->status set (see cosy_call_result).
 */
#define COSY_FAST_CALL(number, name, args, flags, views)                                           \
	s64 cosy_fast_##name(struct cosy_activation *run, const u64 *r);
#include "ops.def"

/*
 * The function of each COSY_COMPOSITE of ops.def.  Returns its result, or anything with
 * run->status set; then `r` holds the remaining work for a repetition.
 */
#define COSY_COMPOSITE(number, name, args, flags, views, ...)                                      \
	s64 cosy_op_##name(struct cosy_activation *run, u64 *r);
#include "ops.def"

/*
 * Makes the call or operation for the instruction `word >> 16`; returns r0.  Non-zero
 * run->status: leave at that instruction.  Called by call.S.
 */
#define COSY_FAST_CALL(number, name, args, flags, views)                                           \
	u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word);
#define COSY_COMPOSITE(number, name, args, flags, views, ...)                                      \
	u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word);
#include "ops.def"
#include "run/ordinary.h"

/* Answers getpid and remembers the answer in run->pid.  Called by call.S. */
u64 cosy_ask_pid(struct cosy_activation *run);

#endif /* COSY_FAST_H */
