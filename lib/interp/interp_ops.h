/* SPDX-License-Identifier: MIT */
/*
 * interp_ops.h - the operations of core/ops.def in user mode.
 *
 * libcosy_interp_NAME(in, r) is operation NAME: arguments in r[1] up, result returned.  Those on
 * memory are in interp_memory.c, those that make system calls in interp_composites.c.
 */
#ifndef COSY_LIB_INTERP_OPS_H
#define COSY_LIB_INTERP_OPS_H

#include "interp/interp.h"

/*
 * Executes operation `number`: arguments in r1-r5, result in r0, r1-r5 zeroed.  With in->left it
 * has left instead, and r1-r5 say what remains.
 */
void libcosy_interp_op(struct libcosy_interp *in, u32 number);

#define COSY_OP(number, name, args, flags)                                                         \
	u64 libcosy_interp_##name(struct libcosy_interp *in, const u64 *r);
#include "../../core/ops.def"

/*
 * Takes `bytes` of the software stack, 16-byte aligned, and returns their offset.
 * A full stack is a SIGSEGV on its guard page, as a native one's.
 */
u64 libcosy_stack_take(struct libcosy_interp *in, u64 bytes);

#endif /* COSY_LIB_INTERP_OPS_H */
