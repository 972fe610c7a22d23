// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * verify.c - checks that based code stays in its own memory, as the sandbox promises.  It
 * looks only at the code that was emitted, by rules that know nothing of how it came about:
 *
 *	frame	r10 is never written, and offsets from it stay in the frame
 *	entry	what the caller gave, at r1, is read until something else is in r1
 *	buffer	each other access counts from AX, less than a page up, and AX has been
 *		masked on each way to it: nothing changed it since, and jumps that come in
 *		between start where it has been masked, too; or from a register that such an
 *		AX was copied to, where no jump leads to what is between
 *
 * So whatever the registers hold, and whatever a processor predicts of the branches, an
 * access is in the buffer or in the page above it, which holds nothing.
 *
 * It decodes instructions by itself, so that it does not repeat a mistake of the sandbox's.
 */
#include "reject.h"
#include "emit.h"

/* The largest offset: the page above the buffer, less the largest access. */
enum { MAX_OFFSET = 4096 - 8 };

enum place {
	PLACE_HALF = 1 << 0,   /* the second half of a constant is here */
	PLACE_TARGET = 1 << 1, /* a jump leads here */
	PLACE_OTHER = 1 << 2,  /* ... from where r1 is not the entry */
	PLACE_ENTRY = 1 << 3,  /* ... from where it is */
	PLACE_ANY = 1 << 4,    /* ... from where AX may be anything */
	PLACE_MASKED = 1 << 5, /* ... from where it is masked */
};

struct verifier {
	const struct cosy_code *code;
	u32 size; /* of the buffer */
	u8 *places;
	bool masked; /* AX is an offset in the buffer */
	u32 copies;  /* registers that hold what AX was when it was one, by their bits */
	bool entry;  /* r1 is the caller's struct cosy_entry */
	bool dead;   /* only jumps lead to the next instruction */
};

static bool is_constant(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_jump(const struct bpf_insn *insn)
{
	u8 class = BPF_CLASS(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && BPF_OP(insn->code) != BPF_CALL &&
	       BPF_OP(insn->code) != BPF_EXIT;
}

static u32 target_of(const struct bpf_insn *insn, u32 at)
{
	return at + 1 + (insn->code == (BPF_JMP32 | BPF_JA) ? insn->imm : insn->off);
}

static u32 size_of(const struct bpf_insn *insn)
{
	static const u8 sizes[] = {4, 2, 1, 8}; /* BPF_W, BPF_H, BPF_B, BPF_DW */

	return sizes[BPF_SIZE(insn->code) >> 3];
}

/*
 * Notes second halves of constants, and where jumps lead.  Most instructions are neither a jump
 * nor the first half of a constant.
 */
static const char *find_targets(struct verifier *v)
{
	const struct bpf_insn *insns = v->code->insns;
	u32 at, target, count = v->code->insn_cnt;

	for (at = 0; at < count; at++) {
		if (!is_constant(&insns[at]))
			continue;
		if (++at == count)
			return "ends in the middle of a constant";
		v->places[at] = PLACE_HALF;
	}
	core_yield();
	for (at = 0; at < count; at++) {
		if (!is_jump(&insns[at]) || v->places[at] & PLACE_HALF)
			continue;
		target = target_of(&insns[at], at);
		if (target >= count || v->places[target] & PLACE_HALF)
			return "jumps to where no instruction is";
		v->places[target] |= PLACE_TARGET;
		/*
		 * The target of a back edge is looked at before what is known where the edge
		 * starts.
		 */
		if (target <= at)
			v->places[target] |= PLACE_OTHER | PLACE_ANY;
	}
	return NULL;
}

static const char *verify_access(const struct verifier *v, const struct bpf_insn *insn)
{
	bool is_load = BPF_CLASS(insn->code) == BPF_LDX;
	u8 base = is_load ? insn->src_reg : insn->dst_reg;

	if (insn->code == COSY_FENCE)
		return NULL;
	if (BPF_MODE(insn->code) == BPF_PROBE_MEM32) {
		if (base == COSY_AX ? !v->masked : !(v->copies & 1u << base))
			return "reaches the buffer by what is not masked";
		return insn->off < 0 || insn->off > MAX_OFFSET ? "reaches too far" : NULL;
	}
	if (BPF_MODE(insn->code) != BPF_MEM && (!is_load || BPF_MODE(insn->code) != BPF_MEMSX))
		return "has an access of another kind";
	if (base == COSY_FP)
		return insn->off < -(s32)v->code->stack_size || insn->off + (s32)size_of(insn) > 0
			       ? "leaves its frame"
			       : NULL;
	if (is_load && base == 1 && v->entry && insn->off >= 0 &&
	    insn->off + size_of(insn) <= sizeof(struct cosy_entry))
		return NULL;
	return "has an access to no memory of its own";
}

/* Notes at a jump's target what is known where it starts: that is all that is known there. */
static void follow_jump(struct verifier *v, const struct bpf_insn *insn, u32 at)
{
	u32 target = target_of(insn, at);

	v->places[target] |= v->entry ? PLACE_ENTRY : PLACE_OTHER;
	v->places[target] |= v->masked ? PLACE_MASKED : PLACE_ANY;
	v->dead = BPF_OP(insn->code) == BPF_JA;
}

static void arrive_at_target(struct verifier *v, u32 at)
{
	const u8 entry = PLACE_ENTRY | PLACE_OTHER, masked = PLACE_MASKED | PLACE_ANY;

	v->entry = (v->entry || v->dead) && (v->places[at] & entry) == PLACE_ENTRY;
	v->masked = (v->masked || v->dead) && (v->places[at] & masked) == PLACE_MASKED;
	v->copies = 0;
}

static const char *verify_register(struct verifier *v, const struct bpf_insn *insn)
{
	const u8 mask = BPF_ALU64 | BPF_AND | BPF_K, copy = BPF_ALU64 | BPF_MOV | BPF_X;

	if (insn->dst_reg == COSY_FP)
		return "changes r10";
	v->copies &= ~(1u << insn->dst_reg);
	if (insn->code == copy && insn->src_reg == COSY_AX && !insn->off && v->masked)
		v->copies |= 1u << insn->dst_reg;
	if (insn->dst_reg == 1)
		v->entry = false;
	if (insn->dst_reg == COSY_AX)
		v->masked = v->size && insn->code == mask && (u32)insn->imm == v->size - 1;
	return NULL;
}

static const char *verify_insn(struct verifier *v, u32 at)
{
	const struct bpf_insn *insn = &v->code->insns[at];
	const char *problem;

	if (v->places[at] & PLACE_TARGET)
		arrive_at_target(v, at);
	v->dead = false;
	switch (BPF_CLASS(insn->code)) {
	case BPF_LDX:
		problem = verify_access(v, insn);
		return problem ? problem : verify_register(v, insn);
	case BPF_ST:
	case BPF_STX:
		return verify_access(v, insn);
	case BPF_JMP:
	case BPF_JMP32:
		if (is_jump(insn)) {
			follow_jump(v, insn, at);
			return NULL;
		}
		v->masked = v->entry = false;
		v->copies = 0;
		v->dead = BPF_OP(insn->code) == BPF_EXIT;
		return NULL;
	default:
		return verify_register(v, insn);
	}
}

int cosy_verify(const struct cosy_code *code, u32 size, const char **ret)
{
	struct verifier v = {.code = code, .size = size, .entry = true};
	const char *problem;
	u32 at;

	v.places = core_alloc(code->insn_cnt);
	if (!v.places)
		return -ENOMEM;
	problem = find_targets(&v);
	for (at = 0; at < code->insn_cnt && !problem; at++) {
		problem = verify_insn(&v, at);
		if (is_constant(&code->insns[at]))
			at++;
		if (at % 4096 == 0)
			core_yield();
	}
	if (!problem && !v.dead)
		problem = "runs off its end";
	core_free(v.places);
	*ret = problem;
	return problem ? -EINVAL : 0;
}
