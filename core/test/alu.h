/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* alu.h - what RFC 9669 says arithmetic and comparisons give. */
#ifndef COSY_TEST_ALU_H
#define COSY_TEST_ALU_H

#include "core.h"

/* dst op src; `src` is the register's or the sign-extended constant's value. */
u64 alu_result(const struct bpf_insn *insn, u64 dst, u64 src);
/* Does the branch go? */
bool alu_condition(const struct bpf_insn *insn, u64 dst, u64 src);
/* AX op value, for the division thunks and alu_result alike. */
u64 alu_divide(u64 dst, u64 src, bool wide, bool is_signed, bool modulo);
/* The new value in memory of an atomic operation. */
u64 alu_atomic(s32 imm, u64 old, u64 operand);
/* An n-byte value in memory, and its sign-extension. */
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
