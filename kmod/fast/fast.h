/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fast.h - system calls by versions that are specialised to what holds just now.
 *
 * A specialised version (this folder and view/) does what the call it stands for
 * does, leaving out what earlier calls of the same RUN have done already, as long as
 * its guards hold (core/guards.def, docs/fast.md).  When one fails it has changed
 * nothing, says COSY_ORDINARY, and the kernel's own system call is made: the replugging
 * of Synthetix (SOSP 1995, section 3.4) for a single call.
 */
#ifndef COSY_FAST_H
#define COSY_FAST_H

#include "fast/guard.h"

/*
 * Makes the call `word & 0xffff`, or operation with COSY_FAST_OP, for the instruction
 * `word >> 16` with r0-r5 in `r`; returns r0.  Non-zero run->status: leave at that
 * instruction.  Called by thunk.S.
 */
u64 cosy_fast(struct cosy_activation *run, u64 *r, u32 word);

/* The same for the calls and operations with thunks of their own (call_thunks.def). */
#define CALL_THUNK(number, name) MAKER_THUNK(name)
#define MAKER_THUNK(name) u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word);
#include "run/call_thunks.def"
#undef MAKER_THUNK
#undef CALL_THUNK

/* getpid, remembered in run->pid.  Called by thunk.S. */
u64 cosy_ask_pid(struct cosy_activation *run);

#endif /* COSY_FAST_H */
