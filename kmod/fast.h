/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fast.h - system calls by versions that are specialised to what holds just now.
 *
 * A specialised version (read.c, directory.c, view.c) does what the call it stands for
 * does, leaving out what earlier calls of the same RUN have done already, as long as
 * its guards hold (core/guards.def, docs/fast.md).  When one fails it has changed
 * nothing, says COSY_ORDINARY, and the kernel's own system call is made: the replugging
 * of Synthetix (SOSP 1995, section 3.4) for a single call.
 */
#ifndef COSY_FAST_H
#define COSY_FAST_H

#include "run.h"

enum cosy_guard {
#define COSY_GUARD(guard, name, relies, breaks) COSY_GUARD_##guard,
#include "../core/guards.def"
#undef COSY_GUARD
	COSY_GUARD_CNT
};

/* The answer of a specialised version whose guard failed: no result of any call. */
#define COSY_ORDINARY S64_MIN

/* An ordinary read of the file system whose guard FRESH failed has succeeded. */
void cosy_made_fresh(struct cosy_activation *run);

/* The start of a RUN: what was made fresh in this jiffy still is. */
void cosy_fresh_init(struct cosy_activation *run);

/* Counts a guard that failed; for `return cosy_replug(...)`. */
s64 cosy_replug(struct cosy_activation *run, enum cosy_guard guard);

/*
 * Makes system call `number` as the kernel makes it.  Everything held is settled first.
 * A restart code has run->status set: the caller returns, and the call in progress,
 * which must be able to start over, leaves.
 */
s64 cosy_ordinary(struct cosy_activation *run, u32 number, u64 a, u64 b, u64 c, u64 d);

/*
 * `result`, once a restart code among them has run->status set.  For what comes from
 * parts of calls that specialised versions make themselves; nothing may be done then.
 */
s64 cosy_call_result(struct cosy_activation *run, s64 result);

/*
 * Lets go of all that specialised versions hold: folios, and views, whose bytes are put
 * into the shared buffer.  Before sleeping, at every tick, at the end.  Cannot fail.
 */
void cosy_settle(struct cosy_activation *run);

/*
 * Makes the call `word & 0xffff`, or operation with COSY_FAST_OP, for the instruction
 * `word >> 16` with r0-r5 in `r`; returns r0.  Non-zero run->status: leave at that
 * instruction.  Called by thunk.S.
 */
u64 cosy_fast(struct cosy_activation *run, u64 *r, u32 word);

/* The same for the calls and operations with thunks of their own (call_thunks.def). */
#define CALL_THUNK(number, name) MAKER_THUNK(name)
#define MAKER_THUNK(name) u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word);
#include "call_thunks.def"
#undef MAKER_THUNK
#undef CALL_THUNK

/* getpid, remembered in run->pid.  Called by thunk.S. */
u64 cosy_ask_pid(struct cosy_activation *run);

#endif /* COSY_FAST_H */
