// SPDX-License-Identifier: GPL-2.0
/* operations.c - the entry of each operation on memory, generated from ops.def. */
#include "memory/operations.h"

static __always_inline void op_begin(struct cosy_activation *run, u32 word, bool resumes)
{
	run->progress.ops++;
	run->insn = word >> 16;
	run->progress.work = 0;
	run->progress.resumes = resumes;
}

#define COSY_COMPOSITE(...)
#define COSY_OP(number, name, args, flags)                                                         \
	u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word)                        \
	{                                                                                          \
		op_begin(run, word, (flags) & COSY_CALL_RESUMES);                                  \
		return cosy_op_##name(run, r);                                                     \
	}
#include "ops.def"

/* --- Operations of a single line ------------------------------------------------------- */

u64 cosy_op_ctx(struct cosy_activation *run, u64 *r)
{
	return run->ctx;
}

u64 cosy_op_trap(struct cosy_activation *run, u64 *r)
{
	cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
	return 0;
}

u64 cosy_op_divide_error(struct cosy_activation *run, u64 *r)
{
	cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
	return 0;
}

u64 cosy_op_call_out(struct cosy_activation *run, u64 *r)
{
	cosy_leave_at(run, COSY_LEFT_NATIVE, run->insn, 0);
	return 0;
}

u64 cosy_op_fence(struct cosy_activation *run, u64 *r)
{
	smp_mb();
	return 0;
}
