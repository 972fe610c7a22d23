/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* insn.h - properties of one BPF instruction: how many bytes it accesses, where it jumps. */
#ifndef COSY_INSN_H
#define COSY_INSN_H

#include "port.h"

/* Returns the bytes of a load, store or atomic. */
static inline u32 cosy_access_size(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

/* Returns whether it is a jump or a branch, as against a call, an exit and all else. */
static inline bool cosy_insn_jumps(const struct bpf_insn *insn)
{
	u8 class = BPF_CLASS(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && BPF_OP(insn->code) != BPF_CALL &&
	       BPF_OP(insn->code) != BPF_EXIT;
}

/* Returns where the jump at instruction `at` leads, which may be anywhere. */
static inline s64 cosy_jump_target(const struct bpf_insn *insn, u32 at)
{
	return (s64)at + 1 + (insn->code == (BPF_JMP32 | BPF_JA) ? insn->imm : insn->off);
}

#endif /* COSY_INSN_H */
