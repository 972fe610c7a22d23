/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* alu.h - the results that RFC 9669 gives to arithmetic and comparisons. */
#ifndef COSY_TEST_ALU_H
#define COSY_TEST_ALU_H

#include "core.h"

/* Returns dst op src; `src` is the register's or the sign-extended constant's value. */
u64 alu_result(const struct bpf_insn *insn, u64 dst, u64 src);
/* Returns whether the branch is taken. */
bool alu_condition(const struct bpf_insn *insn, u64 dst, u64 src);
/* Divides AX by a value, for the division thunks and alu_result alike. */
u64 alu_divide(u64 dst, u64 src, bool wide, bool is_signed, bool modulo);
/* Returns the new value in memory of an atomic operation. */
u64 alu_atomic(s32 imm, u64 old, u64 operand);
/* Read and write a value of `size` bytes in memory; the one read may be sign-extended. */
u64 alu_read(const u8 *bytes, u32 size, bool is_signed);
void alu_write(u8 *bytes, u32 size, u64 value);

static inline u32 alu_access_size(u8 code)
{
	return BPF_SIZE(code) == BPF_B	 ? 1
	       : BPF_SIZE(code) == BPF_H ? 2
	       : BPF_SIZE(code) == BPF_W ? 4
					 : 8;
}

#endif /* COSY_TEST_ALU_H */
