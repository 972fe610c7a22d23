/* SPDX-License-Identifier: GPL-2.0 */
/*
 * operations.h - operations on memory (COSY_OP of core/ops.def).
 *
 * mem* and str* have the effect of the libc functions of those names, on a compound's memory, with
 * addresses for pointers.  Path: compiled code -> cosy_thunk_NAME (call.S) -> cosy_call_NAME
 * (operations.c) -> cosy_op_NAME.  `r` is r0-r5.
 */
#ifndef COSY_OPERATIONS_H
#define COSY_OPERATIONS_H

#include "run/activation.h"

/*
 * Makes an operation; returns its result.  With run->status set it has left, and one that is
 * COSY_CALL_RESUMES has brought r1-r3 up to date.
 */
#define COSY_COMPOSITE(...)
#define COSY_OP(number, name, args, flags) u64 cosy_op_##name(struct cosy_activation *run, u64 *r);
#include "ops.def"

/* Makes the operation for the instruction `word >> 16`; returns r0.  Called by call.S. */
#define COSY_COMPOSITE(...)
#define COSY_OP(number, name, args, flags)                                                         \
	u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word);
#include "ops.def"

/* Returns the address of `byte` in [from, from + length), or 0.  For memory_copy.c, too. */
u64 cosy_find_byte(struct cosy_activation *run, u64 from, u64 length, u8 byte);

/* Does strchr, for memory_compare.c, too. */
u64 cosy_find_in_string(struct cosy_activation *run, u64 from, u8 byte);

#endif /* COSY_OPERATIONS_H */
