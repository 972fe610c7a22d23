/* SPDX-License-Identifier: GPL-2.0 */
/* limits.h - what a compound has to look around for while it runs. */
#ifndef COSY_LIMITS_H
#define COSY_LIMITS_H

#include "run/activation.h"

/* Operations between two looks around, for a program of so many instructions. */
u32 cosy_limits_fuel(u32 insn_cnt);

/*
 * Prepares fuel and clocks for a RUN that has used `ops` and `ns` already: the
 * smallest of the compound's, the context's and the administrator's limits.
 */
void cosy_limits_start(struct cosy_activation *run, struct cosy_context *context, u64 ops, u64 ns);

/* After a leave: what has been used since the compound's start. */
void cosy_limits_stop(struct cosy_activation *run);

/*
 * Fuel is out, before or behind `insn`.  0 with new fuel in run->entry.fuel, or
 * non-zero: leave at `insn`, run->status says why.  Called by thunk.S.
 */
u32 cosy_tick(struct cosy_activation *run, u32 insn);

/*
 * Lets others have the processor, if they want it; then whether the thread has to go
 * back to user mode now.  Called by thunk.S.
 */
u32 cosy_work_due(struct cosy_activation *run);

/*
 * For long work within the instruction `insn`, now and then: true when it must
 * stop, with run->status set.  Death and the time limit stop anything, signals
 * only what `resumes` where it stopped.
 */
bool cosy_limits_pause(struct cosy_activation *run, u32 insn, bool resumes);

#endif /* COSY_LIMITS_H */
