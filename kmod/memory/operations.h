/* SPDX-License-Identifier: GPL-2.0 */
/* operations.h - the operations (COSY_OP_BASE up). */
#ifndef COSY_OPERATIONS_H
#define COSY_OPERATIONS_H

#include "run/activation.h"

/*
 * Makes operation `word & 0xffff` for the instruction `word >> 16` with r0-r5 in
 * `r`; returns r0.  With run->status set it has left, and those operations that
 * resume have brought r1-r3 up to date.  Called by thunk.S.
 */
u64 cosy_op(struct cosy_activation *run, u64 *r, u32 word);

#endif /* COSY_OPERATIONS_H */
