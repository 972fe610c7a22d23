// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox_alu.c - arithmetic: cases that the JIT leaves to the kernel's verifier
 * (division by zero, overflow), instructions new to older JITs, and constants.
 */
#include "sandbox.h"

/* dst op= imm with the constant hidden in AX */
static void emit_blind(struct cosy_rewrite *w, struct bpf_insn insn)
{
	cosy_emit_secret(&w->code, COSY_AX, (s64)insn.imm);
	cosy_emit(&w->code, insn.code | BPF_X, insn.dst_reg, COSY_AX, insn.off, 0);
}

static void emit_plain(struct cosy_rewrite *w, struct bpf_insn insn)
{
	cosy_emit(&w->code, insn.code, insn.dst_reg, insn.src_reg, insn.off, insn.imm);
}

static bool is_shift(u8 code)
{
	return BPF_OP(code) == BPF_LSH || BPF_OP(code) == BPF_RSH || BPF_OP(code) == BPF_ARSH;
}

/* Shifts keep their constant: the validator bounds it to 6 bits. */
static bool is_blinded(const struct cosy_rewrite *w, const struct bpf_insn *insn)
{
	return w->code.blind && BPF_SRC(insn->code) == BPF_K && BPF_OP(insn->code) != BPF_NEG &&
	       !is_shift(insn->code);
}

void cosy_emit_sign_extend(struct cosy_emit *e, u8 dst, u32 bits, bool wide)
{
	u8 class = wide ? BPF_ALU64 : BPF_ALU;
	s32 shift = (wide ? 64 : 32) - bits;

	cosy_emit(e, class | BPF_LSH | BPF_K, dst, 0, 0, shift);
	cosy_emit(e, class | BPF_ARSH | BPF_K, dst, 0, 0, shift);
}

static void rewrite_move(struct cosy_rewrite *w, struct bpf_insn insn)
{
	bool wide = BPF_CLASS(insn.code) == BPF_ALU64;
	u32 bits = insn.off;

	if (!bits || w->how->has_v4) {
		emit_plain(w, insn);
		return;
	}
	insn.off = 0;
	emit_plain(w, insn);
	cosy_emit_sign_extend(&w->code, insn.dst_reg, bits, wide);
}

/* Divides by the thunk, which knows about zero and overflow. */
static void rewrite_signed_division(struct cosy_rewrite *w, struct bpf_insn insn)
{
	bool wide = BPF_CLASS(insn.code) == BPF_ALU64;
	struct cosy_emit *e = &w->code;

	if (BPF_SRC(insn.code) == BPF_X) {
		emit_store(e, COSY_FP, COSY_SLOT_VALUE, insn.src_reg);
	} else {
		cosy_emit_secret(e, COSY_AX, (s64)insn.imm);
		emit_store(e, COSY_FP, COSY_SLOT_VALUE, COSY_AX);
	}
	emit_move(e, COSY_AX, insn.dst_reg);
	if (BPF_OP(insn.code) == BPF_DIV)
		emit_thunk(w, wide ? COSY_THUNK_SDIV64 : COSY_THUNK_SDIV32);
	else
		emit_thunk(w, wide ? COSY_THUNK_SMOD64 : COSY_THUNK_SMOD32);
	emit_move(e, insn.dst_reg, COSY_AX);
}

static void rewrite_division(struct cosy_rewrite *w, struct bpf_insn insn)
{
	bool wide = BPF_CLASS(insn.code) == BPF_ALU64;
	u8 jump = (wide ? BPF_JMP : BPF_JMP32) | BPF_K;
	struct cosy_emit *e = &w->code;

	if (insn.off) {
		rewrite_signed_division(w, insn);
		return;
	}
	if (BPF_SRC(insn.code) == BPF_K) {
		/* The validator has seen to it that this is not 0. */
		if (is_blinded(w, &insn))
			emit_blind(w, insn);
		else
			emit_plain(w, insn);
		return;
	}
	if (BPF_OP(insn.code) == BPF_DIV) {
		cosy_emit(e, jump | BPF_JNE, insn.src_reg, 0, 2, 0);
		emit_zero(e, insn.dst_reg);
		cosy_emit(e, BPF_JMP | BPF_JA, 0, 0, 1, 0);
		emit_plain(w, insn);
		return;
	}
	cosy_emit(e, jump | BPF_JEQ, insn.src_reg, 0, 1, 0);
	emit_plain(w, insn);
	/* A 32-bit remainder is zero-extended, also when it is the dividend. */
	if (!wide)
		cosy_emit(e, BPF_ALU | BPF_MOV | BPF_X, insn.dst_reg, insn.dst_reg, 0, 0);
}

/* cpu v4's unconditional swap is, on a little-endian machine, "to big endian". */
static void rewrite_swap(struct cosy_rewrite *w, struct bpf_insn insn)
{
	if (BPF_CLASS(insn.code) == BPF_ALU64)
		insn.code = BPF_ALU | BPF_END | BPF_TO_BE;
	emit_plain(w, insn);
}

void cosy_rewrite_alu(struct cosy_rewrite *w, const struct bpf_insn *insn)
{
	if (BPF_CLASS(insn->code) == BPF_LD) {
		cosy_emit_secret(&w->code, insn->dst_reg,
				 (u32)insn[0].imm | (u64)(u32)insn[1].imm << 32);
		return;
	}
	switch (BPF_OP(insn->code)) {
	case BPF_END:
		rewrite_swap(w, *insn);
		return;
	case BPF_DIV:
	case BPF_MOD:
		rewrite_division(w, *insn);
		return;
	case BPF_MOV:
		if (BPF_SRC(insn->code) == BPF_X) {
			rewrite_move(w, *insn);
			return;
		}
		break;
	}
	if (is_blinded(w, insn))
		emit_blind(w, *insn);
	else
		emit_plain(w, *insn);
}
