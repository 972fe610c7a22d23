/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * emit.h - a growing piece of BPF code with labels, for the sandbox.
 *
 * An error (no memory) stays in `error` and makes every later call do nothing, so
 * callers test once, at the end.
 */
#ifndef COSY_EMIT_H
#define COSY_EMIT_H

#include "core.h"

/* The register that only the rewriter uses; every JIT has it. */
#ifdef __KERNEL__
#define COSY_AX BPF_REG_AX /* which moved to 12 in Linux 7.3 */
#else
#define COSY_AX 11
#endif
#define COSY_FP 10

/* Nothing after it runs before all that comes before it has: <linux/filter.h>'s BPF_NOSPEC. */
#define COSY_FENCE (BPF_ST | 0xc0)

struct cosy_fixup {
	u32 at;	   /* the jump */
	u32 label; /* its target */
};

struct cosy_emit {
	struct bpf_insn *insns;
	u32 insn_cnt, insn_max;
	u32 *labels; /* position, or COSY_UNBOUND */
	u32 label_cnt, label_max;
	struct cosy_fixup *fixups;
	u32 fixup_cnt, fixup_max;
	bool far;   /* jumps of more than 16 bits */
	bool blind; /* see cosy_emit_secret */
	u64 random; /* state of the blinding's generator */
	u8 keeper;  /* the register of which `turn` counts the changes: AX, or a dead one */
	u32 turn;   /* counts whatever may change the keeper, and places that jumps lead to */
	int error;
};

#define COSY_UNBOUND (~0u)

enum { COSY_MAX_MOVED = COSY_FETCH_WORDS + 1 };

void cosy_emit_deinit(struct cosy_emit *e);

/* Appends one instruction. */
void cosy_emit(struct cosy_emit *e, u8 code, u8 dst, u8 src, s32 off, s32 imm);

/* Makes `count` new labels; returns the first. */
u32 cosy_emit_labels(struct cosy_emit *e, u32 count);
/* Places the label here. */
void cosy_emit_bind(struct cosy_emit *e, u32 label);
/* Places a label that no jump leads to. */
void cosy_emit_note(struct cosy_emit *e, u32 label);
void cosy_emit_goto(struct cosy_emit *e, u32 label);
/* Jump when the condition of `branch` (its offset is ignored) holds, or when it does not. */
void cosy_emit_if(struct cosy_emit *e, struct bpf_insn branch, u32 label);
void cosy_emit_unless(struct cosy_emit *e, struct bpf_insn branch, u32 label);
/*
 * Moves what was emitted from `from` on, which has no jumps and no labels, to the earlier place
 * `to`.  At most COSY_MAX_MOVED instructions.
 */
void cosy_emit_move(struct cosy_emit *e, u32 from, u32 to);
/* Fills in all jumps; -ERANGE when one does not reach. */
int cosy_emit_resolve(struct cosy_emit *e);

/* dst = value; the value may be read in the code. */
void cosy_emit_constant(struct cosy_emit *e, u8 dst, u64 value);
/*
 * dst = value, which the program chose: when blinding is on, no part of it
 * appears in the code.
 */
void cosy_emit_secret(struct cosy_emit *e, u8 dst, u64 value);
/* dst += value, likewise. */
void cosy_emit_add_secret(struct cosy_emit *e, u8 dst, s16 value);

static inline struct bpf_insn cosy_branch(u8 code, u8 dst, u8 src, s32 imm)
{
	return (struct bpf_insn){.code = code, .dst_reg = dst, .src_reg = src, .imm = imm};
}

/* dst op= src, 64 bits */
static inline void emit_op(struct cosy_emit *e, u8 op, u8 dst, u8 src)
{
	cosy_emit(e, BPF_ALU64 | op | BPF_X, dst, src, 0, 0);
}

/* dst op= imm, 64 bits */
static inline void emit_op_imm(struct cosy_emit *e, u8 op, u8 dst, s32 imm)
{
	cosy_emit(e, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

/* dst = src */
static inline void emit_move(struct cosy_emit *e, u8 dst, u8 src)
{
	emit_op(e, BPF_MOV, dst, src);
}

/* dst = 0 */
static inline void emit_zero(struct cosy_emit *e, u8 dst)
{
	cosy_emit(e, BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, 0);
}

/* dst = *(u64 *)(base + off) */
static inline void emit_load(struct cosy_emit *e, u8 dst, u8 base, s32 off)
{
	cosy_emit(e, BPF_LDX | BPF_MEM | BPF_DW, dst, base, off, 0);
}

/* *(u64 *)(base + off) = src */
static inline void emit_store(struct cosy_emit *e, u8 base, s32 off, u8 src)
{
	cosy_emit(e, BPF_STX | BPF_MEM | BPF_DW, base, src, off, 0);
}

static inline void emit_fence(struct cosy_emit *e)
{
	cosy_emit(e, COSY_FENCE, 0, 0, 0, 0);
}

#endif /* COSY_EMIT_H */
