/* SPDX-License-Identifier: MIT */
/* interp_ops.h - the operations of core/ops.def in user mode. */
#ifndef COSY_LIB_INTERP_OPS_H
#define COSY_LIB_INTERP_OPS_H

#include "interp.h"
#include "op_numbers.h"

/* Executes operation `number`: arguments in r1-r5, result in r0, r1-r5 zeroed. */
void libcosy_interp_op(struct libcosy_interp *in, u32 number);

/*
 * The part of libcosy_interp_op that is in interp_fast.c: false when `number` is none of
 * its operations, else the result is in *ret.
 */
bool libcosy_interp_fast_op(struct libcosy_interp *in, u32 number, u64 *ret);

/*
 * Takes `bytes` of the software stack, 16-byte aligned, and returns their offset.
 * A full stack is a SIGSEGV on its guard page, as a native one's.
 */
u64 libcosy_stack_take(struct libcosy_interp *in, u64 bytes);

#endif /* COSY_LIB_INTERP_OPS_H */
