// SPDX-License-Identifier: GPL-2.0 OR MIT
/* disasm.c - an instruction as text, in RFC 9669's pseudo-C. */
#include "core.h"

enum { TEXT_SIZE = 96, REGISTER_SIZE = 8 };

static const char *size_bits(u8 code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return "8";
	case BPF_H:
		return "16";
	case BPF_W:
		return "32";
	default:
		return "64";
	}
}

static void name_register(char *text, u32 reg, bool wide)
{
	snprintf(text, REGISTER_SIZE, "%c%u", wide ? 'r' : 'w', reg);
}

static const char *alu_operator(u8 op, bool is_signed)
{
	switch (op) {
	case BPF_ADD:
		return "+=";
	case BPF_SUB:
		return "-=";
	case BPF_MUL:
		return "*=";
	case BPF_DIV:
		return is_signed ? "s/=" : "/=";
	case BPF_OR:
		return "|=";
	case BPF_AND:
		return "&=";
	case BPF_LSH:
		return "<<=";
	case BPF_RSH:
		return ">>=";
	case BPF_MOD:
		return is_signed ? "s%=" : "%=";
	case BPF_XOR:
		return "^=";
	case BPF_ARSH:
		return "s>>=";
	default:
		return NULL;
	}
}

static void alu_text(const struct bpf_insn *insn, char *text)
{
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;
	bool from_register = BPF_SRC(insn->code) == BPF_X;
	const char *operator= alu_operator(BPF_OP(insn->code), insn->off == 1);
	char dst[REGISTER_SIZE], src[REGISTER_SIZE];

	name_register(dst, insn->dst_reg, wide);
	name_register(src, insn->src_reg, wide);
	switch (BPF_OP(insn->code)) {
	case BPF_NEG:
		snprintf(text, TEXT_SIZE, "%s = -%s", dst, dst);
		return;
	case BPF_END:
		name_register(dst, insn->dst_reg, true);
		snprintf(text, TEXT_SIZE, "%s = %s%d %s", dst,
			 wide		 ? "bswap"
			 : from_register ? "be"
					 : "le",
			 insn->imm, dst);
		return;
	case BPF_MOV:
		if (from_register && insn->off)
			snprintf(text, TEXT_SIZE, "%s = (s%d)%s", dst, insn->off, src);
		else if (from_register)
			snprintf(text, TEXT_SIZE, "%s = %s", dst, src);
		else
			snprintf(text, TEXT_SIZE, "%s = %d", dst, insn->imm);
		return;
	}
	if (!operator)
		snprintf(text, TEXT_SIZE, "unknown 0x%02x", insn->code);
	else if (from_register)
		snprintf(text, TEXT_SIZE, "%s %s %s", dst, operator, src);
	else
		snprintf(text, TEXT_SIZE, "%s %s %d", dst, operator, insn->imm);
}

static void atomic_text(const struct bpf_insn *insn, char *text)
{
	const char *operator= alu_operator(insn->imm & ~BPF_FETCH, false);
	bool wide = BPF_SIZE(insn->code) == BPF_DW;
	char src[REGISTER_SIZE], place[40];

	name_register(src, insn->src_reg, wide);
	snprintf(place, sizeof(place), "*(u%s *)(r%u %+d)", size_bits(insn->code), insn->dst_reg,
		 insn->off);
	if (insn->imm == BPF_CMPXCHG)
		snprintf(text, TEXT_SIZE, "%c0 = cmpxchg(%s, %c0, %s)", wide ? 'r' : 'w', place,
			 wide ? 'r' : 'w', src);
	else if (insn->imm == BPF_XCHG)
		snprintf(text, TEXT_SIZE, "%s = xchg(%s, %s)", src, place, src);
	else if (!operator)
		snprintf(text, TEXT_SIZE, "unknown atomic 0x%x", insn->imm);
	else if (insn->imm & BPF_FETCH)
		snprintf(text, TEXT_SIZE, "%s = lock fetch %s %s %s", src, place, operator, src);
	else
		snprintf(text, TEXT_SIZE, "lock %s %s %s", place, operator, src);
}

static void memory_text(const struct bpf_insn *insn, char *text)
{
	u8 mode = BPF_MODE(insn->code);

	if (mode == BPF_ATOMIC && BPF_CLASS(insn->code) == BPF_STX)
		atomic_text(insn, text);
	else if (BPF_CLASS(insn->code) == BPF_LDX && (mode == BPF_MEM || mode == BPF_MEMSX))
		snprintf(text, TEXT_SIZE, "r%u = *(%c%s *)(r%u %+d)", insn->dst_reg,
			 mode == BPF_MEM ? 'u' : 's', size_bits(insn->code), insn->src_reg,
			 insn->off);
	else if (mode != BPF_MEM)
		snprintf(text, TEXT_SIZE, "unknown 0x%02x", insn->code);
	else if (BPF_CLASS(insn->code) == BPF_STX)
		snprintf(text, TEXT_SIZE, "*(u%s *)(r%u %+d) = r%u", size_bits(insn->code),
			 insn->dst_reg, insn->off, insn->src_reg);
	else
		snprintf(text, TEXT_SIZE, "*(u%s *)(r%u %+d) = %d", size_bits(insn->code),
			 insn->dst_reg, insn->off, insn->imm);
}

static const char *compare_operator(u8 op)
{
	switch (op) {
	case BPF_JEQ:
		return "==";
	case BPF_JGT:
		return ">";
	case BPF_JGE:
		return ">=";
	case BPF_JSET:
		return "&";
	case BPF_JNE:
		return "!=";
	case BPF_JSGT:
		return "s>";
	case BPF_JSGE:
		return "s>=";
	case BPF_JLT:
		return "<";
	case BPF_JLE:
		return "<=";
	case BPF_JSLT:
		return "s<";
	case BPF_JSLE:
		return "s<=";
	default:
		return NULL;
	}
}

static void call_text(const struct bpf_insn *insn, u32 at, char *text)
{
	const struct cosy_call *call = cosy_call_find(insn->imm);

	if (insn->src_reg == BPF_PSEUDO_CALL)
		snprintf(text, TEXT_SIZE, "call %lld", (long long)at + 1 + insn->imm);
	else if (call)
		snprintf(text, TEXT_SIZE, "call %s%s", call->number >= COSY_OP_BASE ? "cosy_" : "",
			 call->name);
	else
		snprintf(text, TEXT_SIZE, "call #%d", insn->imm);
}

static void jump_text(const struct bpf_insn *insn, u32 at, char *text)
{
	bool wide = BPF_CLASS(insn->code) == BPF_JMP;
	const char *compare = compare_operator(BPF_OP(insn->code));
	char dst[REGISTER_SIZE], src[REGISTER_SIZE];
	long long target = (long long)at + 1 + insn->off;

	name_register(dst, insn->dst_reg, wide);
	name_register(src, insn->src_reg, wide);
	if (insn->code == (BPF_JMP | BPF_JA))
		snprintf(text, TEXT_SIZE, "goto %lld", target);
	else if (insn->code == (BPF_JMP32 | BPF_JA))
		snprintf(text, TEXT_SIZE, "gotol %lld", (long long)at + 1 + insn->imm);
	else if (insn->code == (BPF_JMP | BPF_CALL))
		call_text(insn, at, text);
	else if (insn->code == (BPF_JMP | BPF_EXIT))
		snprintf(text, TEXT_SIZE, "exit");
	else if (!compare)
		snprintf(text, TEXT_SIZE, "unknown 0x%02x", insn->code);
	else if (BPF_SRC(insn->code) == BPF_X)
		snprintf(text, TEXT_SIZE, "if %s %s %s goto %lld", dst, compare, src, target);
	else
		snprintf(text, TEXT_SIZE, "if %s %s %d goto %lld", dst, compare, insn->imm, target);
}

u32 cosy_disasm(const struct bpf_insn *insns, u32 insn_cnt, u32 at, char *text, size_t size)
{
	const struct bpf_insn *insn = &insns[at];
	char whole[TEXT_SIZE];
	u32 slots = 1;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		alu_text(insn, whole);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		jump_text(insn, at, whole);
		break;
	case BPF_LD:
		if (insn->code == (BPF_LD | BPF_IMM | BPF_DW) && at + 1 < insn_cnt) {
			slots = 2;
			snprintf(whole, sizeof(whole), "r%u = 0x%llx ll", insn->dst_reg,
				 (unsigned long long)(u32)insn[1].imm << 32 | (u32)insn->imm);
		} else {
			snprintf(whole, sizeof(whole), "unknown 0x%02x", insn->code);
		}
		break;
	default:
		memory_text(insn, whole);
	}
	snprintf(text, size, "%s", whole);
	return slots;
}
