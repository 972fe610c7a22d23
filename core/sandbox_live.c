// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox_live.c - which registers a program still reads, at each of its instructions.
 *
 * A register that is not read before it is written again is dead.  The rewriter may use it there:
 * nothing that the program computes depends on it, wherever the program leaves and resumes.
 *
 * The sets are computed from the last instruction up, again until those at the targets of back
 * edges stay the same.  Loops nest a few levels deep; a program that needs more than MAX_PASSES
 * gets no sets, so the time is linear.
 */
#include "sandbox.h"

enum { MAX_PASSES = 16, ALL = (1 << 10) - 1, ARGUMENTS = 0x3e };

static u32 bit(u8 reg)
{
	return 1u << reg & ALL;
}

/* Returns the argument registers of a system call or operation: r1 to r5, then r0. */
static u32 call_arguments(const struct bpf_insn *insn)
{
	const struct cosy_call *call = cosy_call_find(insn->imm);
	size_t count = strlen(call->args);

	return count > 5 ? ARGUMENTS | 1 : ARGUMENTS & ((2u << count) - 1);
}

/*
 * Returns what is live before a jump, a call or an exit.  A local call saves r6 to r9 in the
 * user's memory, and its callee can read all others.
 */
static u32 live_before_jump(const struct bpf_insn *insn, u32 after, u32 at_target)
{
	switch (BPF_OP(insn->code)) {
	case BPF_CALL:
		if (insn->src_reg == BPF_PSEUDO_CALL)
			return ALL;
		return (after & ~(ARGUMENTS | 1u)) | call_arguments(insn);
	case BPF_EXIT:
		return bit(0);
	case BPF_JA:
		return at_target;
	default:
		after |= at_target | bit(insn->dst_reg);
		return BPF_SRC(insn->code) == BPF_X ? after | bit(insn->src_reg) : after;
	}
}

/* Returns the registers that an instruction other than a jump reads. */
static u32 registers_read(const struct bpf_insn *insn)
{
	bool moves = BPF_OP(insn->code) == BPF_MOV;

	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		return 0;
	case BPF_LDX:
		return bit(insn->src_reg);
	case BPF_ST:
		return bit(insn->dst_reg);
	case BPF_STX:
		/* A compare-exchange compares with r0. */
		return bit(insn->dst_reg) | bit(insn->src_reg) |
		       (BPF_MODE(insn->code) == BPF_ATOMIC ? bit(0) : 0);
	default:
		/* src_reg is 0 where it means nothing. */
		return (moves ? 0 : bit(insn->dst_reg)) |
		       (BPF_SRC(insn->code) == BPF_X && BPF_OP(insn->code) != BPF_END
				? bit(insn->src_reg)
				: 0);
	}
}

/* Returns those that it overwrites; an atomic is taken to overwrite none. */
static u32 registers_written(const struct bpf_insn *insn)
{
	u8 class = BPF_CLASS(insn->code);

	return class == BPF_ST || class == BPF_STX ? 0 : bit(insn->dst_reg);
}

/* One pass.  True: what a back edge leads to is not what it was taken to be. */
static bool live_pass(const struct cosy_validated *program, u16 *live)
{
	bool changed = false;
	u32 at;

	for (at = program->insn_cnt; at-- > 0;) {
		const struct bpf_insn *insn = &program->insns[at];
		/* The last instruction is an exit or a jump. */
		u32 before = at + 1 < program->insn_cnt ? live[at + 1] : 0;

		if (!(program->marks[at] & COSY_MARK_HEAD))
			;
		else if (BPF_CLASS(insn->code) != BPF_JMP && BPF_CLASS(insn->code) != BPF_JMP32)
			before = (before & ~registers_written(insn)) | registers_read(insn);
		else
			before = live_before_jump(
				insn, before,
				cosy_insn_jumps(insn) ? live[cosy_jump_target(insn, at)] : 0);
		changed |= before != live[at] && program->marks[at] & COSY_MARK_RESUME;
		live[at] = before;
		if (at % 4096 == 0)
			core_yield();
	}
	return changed;
}

int cosy_live_find(const struct cosy_validated *program, u16 **ret)
{
	u16 *live = core_alloc(program->insn_cnt * sizeof(*live));
	u32 pass;

	*ret = NULL;
	if (!live)
		return -ENOMEM;
	for (pass = 0; pass < MAX_PASSES; pass++) {
		if (!live_pass(program, live)) {
			*ret = live;
			return 0;
		}
	}
	core_free(live);
	return 0;
}

u32 cosy_registers_used(const struct cosy_validated *program, const u16 *live, u32 at)
{
	const struct bpf_insn *insn = &program->insns[at];

	if (!(program->marks[at] & COSY_MARK_HEAD))
		return 0;
	return live[at] | bit(insn->dst_reg) | bit(insn->src_reg);
}

u8 cosy_register_unused(const struct cosy_rewrite *w, u32 used)
{
	/* A store borrows r0 or r1 for a hidden constant. */
	u8 reg = w->code.blind ? 2 : 0;

	for (; reg < 10; reg++) {
		if (!(used & bit(reg)))
			return reg;
	}
	return COSY_AX;
}
