/* SPDX-License-Identifier: MIT */
/* assemble.h - writes instructions and containers out by hand. */
#ifndef COSY_LIB_TEST_ASSEMBLE_H
#define COSY_LIB_TEST_ASSEMBLE_H

#include <string.h>

#include "../../core/core.h"

#include "check.h"

#define INSN(code_, dst, src, off_, imm_)                                                          \
	((struct bpf_insn){.code = (code_),                                                        \
			   .dst_reg = (dst),                                                       \
			   .src_reg = (src),                                                       \
			   .off = (off_),                                                          \
			   .imm = (s32)(imm_)})

#define ALU64_K(op, dst, imm) INSN(BPF_ALU64 | BPF_K | (op), dst, 0, 0, imm)
#define ALU64_X(op, dst, src) INSN(BPF_ALU64 | BPF_X | (op), dst, src, 0, 0)
#define ALU32_K(op, dst, imm) INSN(BPF_ALU | BPF_K | (op), dst, 0, 0, imm)
#define ALU32_X(op, dst, src) INSN(BPF_ALU | BPF_X | (op), dst, src, 0, 0)
#define MOV_K(dst, imm)	      ALU64_K(BPF_MOV, dst, imm)
#define MOV_X(dst, src)	      ALU64_X(BPF_MOV, dst, src)
#define IMM64(dst, value)                                                                          \
	INSN(BPF_LD | BPF_IMM | BPF_DW, dst, 0, 0, (u64)(value)),                                  \
		INSN(0, 0, 0, 0, (u64)(value) >> 32)
#define LOAD(size, dst, src, off)	INSN(BPF_LDX | BPF_MEM | (size), dst, src, off, 0)
#define LOADS(size, dst, src, off)	INSN(BPF_LDX | BPF_MEMSX | (size), dst, src, off, 0)
#define STORE(size, dst, off, src)	INSN(BPF_STX | BPF_MEM | (size), dst, src, off, 0)
#define STORE_K(size, dst, off, imm)	INSN(BPF_ST | BPF_MEM | (size), dst, 0, off, imm)
#define ATOMIC(size, op, dst, off, src) INSN(BPF_STX | BPF_ATOMIC | (size), dst, src, off, op)
#define JUMP(off)			INSN(BPF_JMP | BPF_JA, 0, 0, off, 0)
#define JUMP_K(op, dst, imm, off)	INSN(BPF_JMP | BPF_K | (op), dst, 0, off, imm)
#define JUMP_X(op, dst, src, off)	INSN(BPF_JMP | BPF_X | (op), dst, src, off, 0)
#define JUMP32_K(op, dst, imm, off)	INSN(BPF_JMP32 | BPF_K | (op), dst, 0, off, imm)
#define CALL(number)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, number)
#define CALL_LOCAL(off)			INSN(BPF_JMP | BPF_CALL, 0, 1, 0, off)
#define EXIT()				INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* Returns a container around instructions; free() it. */
static inline struct cosy_compound *assemble(const struct bpf_insn *insns, u32 insn_cnt,
					     u32 ctx_size)
{
	u32 size = sizeof(struct cosy_compound) + insn_cnt * sizeof(*insns);
	struct cosy_compound *compound = aligned_alloc(8, size);

	MUST(compound);
	*compound = (struct cosy_compound){
		.magic = COSY_MAGIC,
		.version = COSY_ABI_VERSION,
		.header_size = sizeof(*compound),
		.size = size,
		.insn_off = sizeof(*compound),
		.insn_cnt = insn_cnt,
		.ctx_size = ctx_size,
	};
	memcpy(compound + 1, insns, insn_cnt * sizeof(*insns));
	return compound;
}

/* Validates, or ends the test. */
static inline struct cosy_validated validated(const struct bpf_insn *insns, u32 insn_cnt)
{
	struct cosy_validated program;
	struct cosy_reject why = {0};

	if (cosy_validate(insns, insn_cnt, &program, &why)) {
		fprintf(stderr, "rejected at %u: %s\n", why.insn, why.reason);
		exit(1);
	}
	return program;
}

#endif /* COSY_LIB_TEST_ASSEMBLE_H */
