// SPDX-License-Identifier: GPL-2.0 OR MIT
/* lint.c - what can be seen of rewritten code without running it. */
#include "checker.h"

#define AX 11

static const char *lint_alu(const struct bpf_insn *insn, bool has_v4)
{
	u8 op = BPF_OP(insn->code);

	if (insn->dst_reg == 10 || insn->dst_reg > AX || insn->src_reg > AX)
		return "arithmetic on a wrong register";
	if (op > BPF_END || (op == BPF_NEG && BPF_SRC(insn->code) == BPF_X))
		return "unknown arithmetic";
	if (op == BPF_END)
		return BPF_CLASS(insn->code) == BPF_ALU64 ? "unconditional swap" : NULL;
	if (insn->off && !(op == BPF_MOV && has_v4))
		return "arithmetic with an offset";
	if (BPF_SRC(insn->code) == BPF_K && insn->src_reg)
		return "constant and register";
	if (BPF_SRC(insn->code) == BPF_X && insn->src_reg == 10)
		return "r10 as a value";
	if ((op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH) && BPF_SRC(insn->code) == BPF_K &&
	    (u32)insn->imm >= (BPF_CLASS(insn->code) == BPF_ALU64 ? 64 : 32))
		return "a shift by too much";
	return NULL;
}

static const char *lint_access(const struct bpf_insn *insn, const struct cosy_sandbox *how)
{
	u8 mode = BPF_MODE(insn->code), class = BPF_CLASS(insn->code);
	u32 base = class == BPF_LDX ? insn->src_reg : insn->dst_reg;

	if (mode == BPF_MEMSX && class == BPF_LDX && how->has_v4)
		mode = BPF_MEM;
	/* AX holds an offset in based code, and an address elsewhere. */
	if (how->based && base == AX && mode != BPF_PROBE_MEM32)
		return "AX as an address in based code";
	if (mode == BPF_PROBE_MEM32 && how->based && how->size &&
	    (how->copies_ax ? base < 10 : base == AX))
		mode = BPF_MEM;
	if (mode != BPF_MEM)
		return "access of a wrong mode";
	if (base > AX || (class == BPF_LDX && insn->dst_reg == 10) ||
	    (class == BPF_STX && (insn->src_reg == 10 || insn->src_reg > AX)))
		return "access with a wrong register";
	return NULL;
}

static const char *lint_jump(const struct cosy_code *code, u32 at, const u8 *heads, bool has_gotol)
{
	const struct bpf_insn *insn = &code->insns[at];
	bool wide = insn->code == (BPF_JMP32 | BPF_JA);
	s64 target = (s64)at + 1 + (wide ? insn->imm : insn->off);
	u8 op = BPF_OP(insn->code);

	if (wide && !has_gotol)
		return "32-bit jump";
	if (insn->code == (BPF_JMP | BPF_EXIT))
		return NULL;
	if (op == BPF_CALL)
		return insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg || insn->dst_reg ||
				       !insn->imm
			       ? "a call of a wrong kind"
			       : NULL;
	if (op == BPF_EXIT || op >= BPF_JCOND)
		return "unknown jump";
	if (target < 0 || target >= code->insn_cnt || !heads[target])
		return "jump to where no instruction is";
	if (insn->dst_reg == 10 || insn->dst_reg > AX || insn->src_reg == 10 || insn->src_reg > AX)
		return "jump on a wrong register";
	return NULL;
}

/* The first jump is the prologue's, to where a run resumes. */
static bool is_resume_fenced(const struct cosy_code *code)
{
	const struct bpf_insn *insns = code->insns;
	s64 at = 0;

	while (BPF_CLASS(insns[at].code) != BPF_JMP) {
		if (++at == code->insn_cnt)
			return false;
	}
	/* Where that is too far for a branch, its opposite skips a jump. */
	if (BPF_OP(insns[at].code) == BPF_JEQ)
		at++;
	at += 1 + (insns[at].code == (BPF_JMP32 | BPF_JA) ? insns[at].imm : insns[at].off);
	return at < code->insn_cnt && insns[at].code == COSY_FENCE;
}

const char *checker_lint(const struct cosy_code *code, const struct cosy_sandbox *how)
{
	u8 *heads = calloc(1, code->insn_cnt);
	const char *problem = NULL;
	u32 at, based = 0;

	if (!heads)
		abort();
	for (at = 0; at < code->insn_cnt; at++) {
		heads[at] = 1;
		if (code->insns[at].code == (BPF_LD | BPF_IMM | BPF_DW))
			at++;
	}
	for (at = 0; at < code->insn_cnt && !problem; at++) {
		const struct bpf_insn *insn = &code->insns[at];

		if (!heads[at] || insn->code == COSY_FENCE)
			continue;
		switch (BPF_CLASS(insn->code)) {
		case BPF_LD:
			if (insn->code != (BPF_LD | BPF_IMM | BPF_DW) || insn->src_reg ||
			    insn->off || at + 1 >= code->insn_cnt || insn[1].code)
				problem = "a wrong 64-bit constant";
			break;
		case BPF_LDX:
		case BPF_ST:
		case BPF_STX:
			problem = lint_access(insn, how);
			based +=
				insn->code != COSY_FENCE && BPF_MODE(insn->code) == BPF_PROBE_MEM32;
			break;
		case BPF_ALU:
		case BPF_ALU64:
			problem = lint_alu(insn, how->has_v4);
			break;
		default:
			problem = lint_jump(code, at, heads, how->has_gotol);
		}
	}
	if (!problem && based != code->based_cnt)
		problem = "based accesses are miscounted";
	if (!problem && how->based && cosy_verify(code, how, &problem) == -ENOMEM)
		problem = "no memory to verify it";
	if (!problem && code->insns[0].code != COSY_FENCE)
		problem = "the entry is not fenced";
	if (!problem && !is_resume_fenced(code))
		problem = "resuming is not fenced";
	if (!problem && code->insns[code->insn_cnt - 1].code != (BPF_JMP | BPF_EXIT))
		problem = "the last instruction is no exit";
	free(heads);
	return problem;
}

/* One program, blinded by several seeds. */
enum { BLINDINGS = 3 };
struct blindings {
	struct cosy_code code[BLINDINGS];
	/* A bit by the hash of each immediate of the first: what has none there need not be sought. */
	u64 filter[256];
};

static u32 filter_bit(s32 value)
{
	return (u32)value * 0x9e3779b1u >> 18;
}

static void filter_fill(struct blindings *blindings)
{
	u32 at, bit;

	memset(blindings->filter, 0, sizeof(blindings->filter));
	for (at = 0; at < blindings->code[0].insn_cnt; at++) {
		bit = filter_bit(blindings->code[0].insns[at].imm);
		blindings->filter[bit / 64] |= 1ull << bit % 64;
	}
}

/* Returns whether a value is the program's choice, and more than a counter or a mask. */
static bool is_telling(s64 value)
{
	return value > 0xffff || value < -0xffff;
}

static bool appears(const struct cosy_code *code, s32 value)
{
	u32 at;

	for (at = 0; at < code->insn_cnt; at++) {
		if (code->insns[at].imm == value)
			return true;
	}
	return false;
}

/*
 * Returns whether a value is there whatever the blinding's random masks are.  With one seed alone a
 * mask may be a constant that the program has, too.  That happens once in 2^32, but a fuzzer that
 * watches comparisons writes what it saw there into its next program.
 */
static bool always_appears(const struct blindings *blindings, s32 value)
{
	u32 bit = filter_bit(value), i;

	if (!(blindings->filter[bit / 64] >> bit % 64 & 1))
		return false;
	for (i = 0; i < BLINDINGS; i++) {
		if (!appears(&blindings->code[i], value))
			return false;
	}
	return true;
}

static const char *find_constant(const struct cosy_validated *program,
				 const struct blindings *blindings, const struct cosy_sandbox *how)
{
	u32 at;

	for (at = 0; at < program->insn_cnt; at++) {
		const struct bpf_insn *insn = &program->insns[at];
		s64 folded = (s64)insn->off - (s64)how->user_base;

		/* Sizes and addresses of the sandbox's own may be the same by chance. */
		if (is_telling(insn->imm) && insn->imm != (s32)how->kernel_base &&
		    insn->imm != (s32)(how->kernel_base >> 32) &&
		    always_appears(blindings, insn->imm))
			return "a constant of the program is in blinded code";
		if (program->marks[at] & COSY_MARK_LEAVE && how->size && is_telling((s32)folded) &&
		    (always_appears(blindings, folded) || always_appears(blindings, -folded)))
			return "an offset of the program is in blinded code";
	}
	return NULL;
}

const char *checker_lint_blind(const struct cosy_validated *program, const struct cosy_sandbox *how)
{
	struct cosy_sandbox other = *how;
	struct blindings blindings;
	const char *problem = NULL;
	u32 i, made;

	for (made = 0; made < BLINDINGS && !problem; made++) {
		struct cosy_reject why = {0};

		other.seed = world_mix(how->seed, made);
		if (cosy_sandbox(program, &other, &blindings.code[made], &why))
			problem = "is refused with another seed";
	}
	if (problem) {
		made--;
	} else {
		filter_fill(&blindings);
		problem = find_constant(program, &blindings, how);
	}
	for (i = 0; i < made; i++)
		core_free(blindings.code[i].insns);
	return problem;
}
