// SPDX-License-Identifier: GPL-2.0 OR MIT
/* alu.c - the results that RFC 9669 gives to arithmetic and comparisons. */
#include "alu.h"

u64 alu_divide(u64 dst, u64 src, bool wide, bool is_signed, bool modulo)
{
	if (!wide) {
		dst = is_signed ? (u64)(s64)(s32)dst : (u32)dst;
		src = is_signed ? (u64)(s64)(s32)src : (u32)src;
	}
	if (src == 0)
		dst = modulo ? dst : 0;
	else if (is_signed && (s64)src == -1)
		dst = modulo ? 0 : -dst;
	else if (is_signed)
		dst = modulo ? (s64)dst % (s64)src : (s64)dst / (s64)src;
	else
		dst = modulo ? dst % src : dst / src;
	return wide ? dst : (u32)dst;
}

static u64 extend(u64 value, u32 bits)
{
	return bits == 8    ? (u64)(s64)(s8)value
	       : bits == 16 ? (u64)(s64)(s16)value
			    : (u64)(s64)(s32)value;
}

static u64 swap(const struct bpf_insn *insn, u64 value)
{
	bool swaps = BPF_CLASS(insn->code) == BPF_ALU64 || BPF_SRC(insn->code) == BPF_TO_BE;

	switch (insn->imm) {
	case 16:
		return swaps ? __builtin_bswap16(value) : (u16)value;
	case 32:
		return swaps ? __builtin_bswap32(value) : (u32)value;
	default:
		return swaps ? __builtin_bswap64(value) : value;
	}
}

static u64 shift(const struct bpf_insn *insn, u64 dst, u64 src, bool wide)
{
	u32 by = src & (wide ? 63 : 31);

	switch (BPF_OP(insn->code)) {
	case BPF_LSH:
		return dst << by;
	case BPF_RSH:
		return wide ? dst >> by : (u32)dst >> by;
	default:
		return wide ? (u64)((s64)dst >> by) : (u64)(u32)((s32)dst >> by);
	}
}

u64 alu_result(const struct bpf_insn *insn, u64 dst, u64 src)
{
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;
	u64 value;

	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		value = dst + src;
		break;
	case BPF_SUB:
		value = dst - src;
		break;
	case BPF_MUL:
		value = dst * src;
		break;
	case BPF_OR:
		value = dst | src;
		break;
	case BPF_AND:
		value = dst & src;
		break;
	case BPF_XOR:
		value = dst ^ src;
		break;
	case BPF_NEG:
		value = -dst;
		break;
	case BPF_MOV:
		value = insn->off ? extend(src, insn->off) : src;
		break;
	case BPF_DIV:
	case BPF_MOD:
		value = alu_divide(dst, src, wide, insn->off == 1, BPF_OP(insn->code) == BPF_MOD);
		break;
	case BPF_END:
		return swap(insn, dst);
	default:
		value = shift(insn, dst, src, wide);
	}
	return wide ? value : (u32)value;
}

bool alu_condition(const struct bpf_insn *insn, u64 dst, u64 src)
{
	s64 a, b;

	if (BPF_CLASS(insn->code) == BPF_JMP32) {
		a = (s32)dst;
		b = (s32)src;
		dst = (u32)dst;
		src = (u32)src;
	} else {
		a = dst;
		b = src;
	}
	switch (BPF_OP(insn->code)) {
	case BPF_JEQ:
		return dst == src;
	case BPF_JNE:
		return dst != src;
	case BPF_JGT:
		return dst > src;
	case BPF_JGE:
		return dst >= src;
	case BPF_JLT:
		return dst < src;
	case BPF_JLE:
		return dst <= src;
	case BPF_JSET:
		return dst & src;
	case BPF_JSGT:
		return a > b;
	case BPF_JSGE:
		return a >= b;
	case BPF_JSLT:
		return a < b;
	default:
		return a <= b;
	}
}

u64 alu_atomic(s32 imm, u64 old, u64 operand)
{
	switch (imm & ~BPF_FETCH) {
	case BPF_ADD:
		return old + operand;
	case BPF_OR:
		return old | operand;
	case BPF_AND:
		return old & operand;
	case BPF_XOR:
		return old ^ operand;
	default:
		return operand;
	}
}

u64 alu_read(const u8 *bytes, u32 size, bool is_signed)
{
	u64 value = 0;

	memcpy(&value, bytes, size);
	return is_signed && size < 8 ? extend(value, size * 8) : value;
}

void alu_write(u8 *bytes, u32 size, u64 value)
{
	memcpy(bytes, &value, size);
}
