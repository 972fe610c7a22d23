// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * verify.c - checks that based code stays in its own memory, as the sandbox promises.  It
 * looks only at the code that was emitted, by rules that do not depend on the rewriter:
 *
 *	kinds	each instruction is of a kind that the sandbox emits: no indirect jump or call,
 *		no call of a kernel's function by number, none of the kernel verifier's own
 *	frame	r10 is never written, nor is its value used; offsets from it stay in the frame,
 *		and so does what a thunk fetches
 *	entry	the caller's struct cosy_entry, at r1, is read until r1 changes
 *	buffer	each other access counts from a register, less than a page up, and that has been
 *		masked on each path to it: nothing changed it since except a copy of another masked
 *		one, and jumps that come in between start where it is masked as well
 *
 * So whatever the registers hold, and whatever a processor predicts for branches, an
 * access is in the buffer or in the page above it, which holds nothing.
 *
 * It decodes instructions by itself, so that it does not repeat a mistake of the sandbox's.
 */
#include "reject.h"
#include "emit.h"

/* The largest offset: the page above the buffer, less the largest access. */
enum { MAX_OFFSET = 4096 - 8 };

/* What is known of a register: a bit for each, and for what the caller gave. */
enum {
	ALL_KNOWN = 0xffff,
	ENTRY = 1 << 15, /* r1 is the caller's struct cosy_entry */
};

/* An instruction, and what is known after all jumps to it that were seen. */
struct place {
	bool is_half;	/* the second half of a constant is here */
	bool is_target; /* a jump leads here */
	u16 known;	/* registers that are an offset in the buffer, by their bits; ENTRY */
};

struct verifier {
	const struct cosy_code *code;
	const struct cosy_sandbox *how;
	struct place *places;
	u16 known;
	bool dead; /* only jumps lead to the next instruction */
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
		v->places[at].is_half = true;
	}
	core_yield();
	for (at = 0; at < count; at++) {
		if (!is_jump(&insns[at]) || v->places[at].is_half)
			continue;
		target = target_of(&insns[at], at);
		if (target >= count || v->places[target].is_half)
			return "jumps to where no instruction is";
		if (!v->places[target].is_target)
			v->places[target] = (struct place){.is_target = true, .known = ALL_KNOWN};
		/*
		 * The target of a back edge is verified before what is known where the edge starts.
		 */
		if (target <= at)
			v->places[target].known = 0;
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
		if (!(v->known & 1u << base))
			return "reaches the buffer by what is not masked";
		return insn->off < 0 || insn->off > MAX_OFFSET ? "reaches too far" : NULL;
	}
	if (BPF_MODE(insn->code) != BPF_MEM && (!is_load || BPF_MODE(insn->code) != BPF_MEMSX))
		return "has an access of another kind";
	if (base == COSY_FP)
		return insn->off < -(s32)v->code->stack_size || insn->off + (s32)size_of(insn) > 0
			       ? "leaves its frame"
			       : NULL;
	if (is_load && base == 1 && v->known & ENTRY && insn->off >= 0 &&
	    insn->off + size_of(insn) <= sizeof(struct cosy_entry))
		return NULL;
	return "has an access to no memory of its own";
}

/* Notes at a jump's target what is known where it starts: that is all that is known there. */
static void follow_jump(struct verifier *v, const struct bpf_insn *insn, u32 at)
{
	v->places[target_of(insn, at)].known &= v->known;
	v->dead = BPF_OP(insn->code) == BPF_JA;
}

/* Keeps what is known on each way to an instruction that jumps lead to. */
static void arrive_at_target(struct verifier *v, u32 at)
{
	v->known = (v->dead ? ALL_KNOWN : v->known) & v->places[at].known;
}

static const char *verify_register(struct verifier *v, const struct bpf_insn *insn)
{
	const u8 mask = BPF_ALU64 | BPF_AND | BPF_K, copy = BPF_ALU64 | BPF_MOV | BPF_X;
	const u32 size = v->how->size;
	bool masked;

	if (insn->dst_reg == COSY_FP)
		return "changes r10";
	if (insn->code == copy && !insn->off)
		masked = v->known & 1u << insn->src_reg;
	else
		masked = size && insn->code == mask && (u32)insn->imm == size - 1;
	v->known &= ~(1u << insn->dst_reg);
	if (masked)
		v->known |= 1u << insn->dst_reg;
	if (insn->dst_reg == 1)
		v->known &= ~ENTRY;
	return NULL;
}

/* --- Kinds of instructions ------------------------------------------------------------- */

static bool is_register(u8 reg)
{
	return reg <= COSY_FP || reg == COSY_AX;
}

/*
 * Arithmetic has no offset, but for a move that extends a sign: others are the kernel's, and add
 * an address of its own.
 */
static bool is_arithmetic(const struct bpf_insn *insn)
{
	u8 op = BPF_OP(insn->code);
	bool takes_register = BPF_SRC(insn->code) == BPF_X && op != BPF_END;

	if (op > BPF_END || (op == BPF_END && BPF_CLASS(insn->code) == BPF_ALU64))
		return false;
	if (takes_register ? insn->src_reg == COSY_FP : insn->src_reg != 0)
		return false;
	return !insn->off || (op == BPF_MOV && takes_register &&
			      (insn->off == 8 || insn->off == 16 || insn->off == 32));
}

static bool is_flow(const struct bpf_insn *insn)
{
	u8 op = BPF_OP(insn->code);

	if (op == BPF_CALL || op == BPF_EXIT)
		return insn->code == (BPF_JMP | op) && !insn->dst_reg && !insn->src_reg;
	if (insn->dst_reg == COSY_FP)
		return false;
	if (BPF_SRC(insn->code) == BPF_X)
		return op != BPF_JA && op < BPF_JCOND && insn->src_reg != COSY_FP;
	return op < BPF_JCOND && !insn->src_reg;
}

/* Returns whether the sandbox emits instructions of the kind. */
static bool is_of_a_kind(const struct bpf_insn *insn)
{
	if (!is_register(insn->dst_reg) || !is_register(insn->src_reg))
		return false;
	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		return is_constant(insn) && !insn->src_reg && !insn->off && !insn[1].code &&
		       !insn[1].dst_reg && !insn[1].src_reg && !insn[1].off;
	case BPF_ALU:
	case BPF_ALU64:
		return is_arithmetic(insn);
	case BPF_JMP:
	case BPF_JMP32:
		return is_flow(insn);
	case BPF_STX:
		return insn->src_reg != COSY_FP;
	default:
		return true; /* verify_access */
	}
}

/* A thunk that fetches writes to the lowest words of the frame, whatever it is told. */
static const char *verify_call(const struct verifier *v, const struct bpf_insn *insn)
{
	const s32 *fetches = v->how->thunks + COSY_THUNK_FETCH;
	u32 i;

	if (v->code->stack_size >= (u32)-COSY_FETCH_PLACE)
		return NULL;
	for (i = 0; i < COSY_FETCH_WORDS; i++) {
		if (insn->imm == fetches[i])
			return "fetches to below its frame";
	}
	return NULL;
}

static const char *verify_insn(struct verifier *v, u32 at)
{
	const struct bpf_insn *insn = &v->code->insns[at];
	const char *problem;

	if (v->places[at].is_target)
		arrive_at_target(v, at);
	if (!is_of_a_kind(insn))
		return "has an instruction that the sandbox does not emit";
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
		v->known = 0;
		v->dead = BPF_OP(insn->code) == BPF_EXIT;
		return v->dead ? NULL : verify_call(v, insn);
	default:
		return verify_register(v, insn);
	}
}

int cosy_verify(const struct cosy_code *code, const struct cosy_sandbox *how, const char **ret)
{
	struct verifier v = {.code = code, .how = how, .known = ENTRY};
	const char *problem;
	u32 at;

	v.places = core_alloc(code->insn_cnt * sizeof(*v.places));
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
