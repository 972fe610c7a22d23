/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* reference.h - runs a program as it was written: what the rewritten one must equal. */
#ifndef COSY_TEST_REFERENCE_H
#define COSY_TEST_REFERENCE_H

#include "world.h"

/* Makes the state that a run starts with. */
void reference_start(struct cosy_state *state, const struct world *world);

/*
 * Runs from instruction *at until the run ends or, when `leave_after` is not 0, until it stands
 * before a resume point for the `leave_after`th time (RUN_LEFT).  Steps are counted in
 * state->steps, up to `limit`.
 */
enum outcome reference_run(const struct cosy_validated *program, struct world *world,
			   struct cosy_state *state, u32 *at, u64 limit, u32 leave_after);

/*
 * Makes an atomic operation on memory, with BPF's results; compare-exchange compares with r0.
 * Returns the old value.
 */
u64 reference_atomic(u8 *bytes, u32 size, s32 imm, u64 operand, u64 r0);

#endif /* COSY_TEST_REFERENCE_H */
