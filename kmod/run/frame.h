/* SPDX-License-Identifier: GPL-2.0 */
/* frame.h - local calls, whose frames are in user memory. */
#ifndef COSY_FRAME_H
#define COSY_FRAME_H

#include "run/activation.h"

/* The value of cosy_state.fp in the first function, which has no frame. */
#define COSY_NO_FRAME (~0ull)

/*
 * Pushes a struct cosy_frame and zeroes the callee's spill frame.  `saved` is r6-r9; `top` is
 * the upper end of the spill frame on the kernel's stack; `word` is what the sandbox put into
 * AX, see COSY_THUNK_PUSH.  Non-zero: leave, nothing is done.  Called by call.S.
 */
u32 cosy_frame_push(struct cosy_activation *run, const u64 *saved, u64 *top, u32 word);

/*
 * Pops the newest frame into `saved` and the spill frame.  Returns the instruction of a local
 * call of this program, or a negative number: leave.  Called by call.S.
 */
s64 cosy_frame_pop(struct cosy_activation *run, u64 *saved, u64 *top, u32 insn);

#endif /* COSY_FRAME_H */
