// SPDX-License-Identifier: GPL-2.0 OR MIT
/* emit.c - a growing piece of BPF code with labels, for the sandbox. */
#include "emit.h"

#define GOTOL (BPF_JMP32 | BPF_JA) /* cpu v4: 32-bit offset in imm */
#define GOTO  (BPF_JMP | BPF_JA)

void cosy_emit_deinit(struct cosy_emit *e)
{
	core_free(e->insns);
	core_free(e->labels);
	core_free(e->fixups);
	e->insns = NULL;
	e->labels = NULL;
	e->fixups = NULL;
}

static void *array_move(struct cosy_emit *e, void *array, u32 count, u32 *max, u32 need,
			size_t size)
{
	u32 larger = *max ? *max : 64;
	void *moved;

	while (larger < need)
		larger *= 2;
	moved = core_alloc(larger * size);
	if (!moved) {
		e->error = -ENOMEM;
		return NULL;
	}
	if (count)
		memcpy(moved, array, count * size);
	core_free(array);
	*max = larger;
	core_yield();
	return moved;
}

/*
 * Makes room for `need` entries.  Returns the array, possibly moved, or NULL.  Called at every
 * instruction.
 */
static inline void *array_grow(struct cosy_emit *e, void *array, u32 count, u32 *max, u32 need,
			       size_t size)
{
	if (e->error)
		return NULL;
	return need <= *max ? array : array_move(e, array, count, max, need, size);
}

static void insn_append(struct cosy_emit *e, struct bpf_insn insn)
{
	struct bpf_insn *insns =
		array_grow(e, e->insns, e->insn_cnt, &e->insn_max, e->insn_cnt + 1, sizeof(*insns));

	if (!insns)
		return;
	e->insns = insns;
	e->insns[e->insn_cnt++] = insn;
}

/*
 * Returns whether a new turn (emit.h) begins.  A jump without a label leads to an instruction one
 * or two further on.
 */
static bool is_turn(const struct cosy_emit *e, u8 code, u8 dst)
{
	switch (BPF_CLASS(code)) {
	case BPF_ST:
	case BPF_STX:
		return false;
	case BPF_JMP:
	case BPF_JMP32:
		return true;
	default:
		return dst == e->keeper;
	}
}

void cosy_emit(struct cosy_emit *e, u8 code, u8 dst, u8 src, s32 off, s32 imm)
{
	e->turn += is_turn(e, code, dst);
	insn_append(e,
		    (struct bpf_insn){
			    .code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm});
}

u32 cosy_emit_labels(struct cosy_emit *e, u32 count)
{
	u32 *labels = array_grow(e, e->labels, e->label_cnt, &e->label_max, e->label_cnt + count,
				 sizeof(*labels));
	u32 first = e->label_cnt;

	if (!labels)
		return 0;
	e->labels = labels;
	while (count--)
		e->labels[e->label_cnt++] = COSY_UNBOUND;
	return first;
}

void cosy_emit_note(struct cosy_emit *e, u32 label)
{
	if (!e->error)
		e->labels[label] = e->insn_cnt;
}

void cosy_emit_bind(struct cosy_emit *e, u32 label)
{
	e->turn++;
	cosy_emit_note(e, label);
}

static void jump_append(struct cosy_emit *e, struct bpf_insn jump, u32 label)
{
	struct cosy_fixup *fixups = array_grow(e, e->fixups, e->fixup_cnt, &e->fixup_max,
					       e->fixup_cnt + 1, sizeof(*fixups));

	if (!fixups)
		return;
	e->fixups = fixups;
	e->fixups[e->fixup_cnt++] = (struct cosy_fixup){e->insn_cnt, label};
	insn_append(e, jump);
}

/*
 * Returns whether a 16-bit jump reaches the label.  A forward target is not placed yet, so assume
 * it is far; a backward one is measured.
 */
static bool is_near(const struct cosy_emit *e, u32 label)
{
	if (!e->far)
		return true;
	if (e->error || e->labels[label] == COSY_UNBOUND)
		return false;
	return e->insn_cnt - e->labels[label] < 0x7000;
}

void cosy_emit_goto(struct cosy_emit *e, u32 label)
{
	jump_append(e, cosy_branch(is_near(e, label) ? GOTO : GOTOL, 0, 0, 0), label);
}

/* Makes a branch one that is taken exactly when it was not; false: there is none. */
static bool branch_invert(struct bpf_insn *branch)
{
	static const u8 pairs[][2] = {
		{BPF_JEQ, BPF_JNE},   {BPF_JGT, BPF_JLE},   {BPF_JGE, BPF_JLT},
		{BPF_JSGT, BPF_JSLE}, {BPF_JSGE, BPF_JSLT},
	};
	u8 op = BPF_OP(branch->code);
	u32 i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (op != pairs[i][0] && op != pairs[i][1])
			continue;
		branch->code ^= pairs[i][0] ^ pairs[i][1];
		return true;
	}
	return false;
}

void cosy_emit_if(struct cosy_emit *e, struct bpf_insn branch, u32 label)
{
	if (is_near(e, label)) {
		jump_append(e, branch, label);
		return;
	}
	branch.off = 1;
	e->turn++;
	if (!branch_invert(&branch)) {
		insn_append(e, branch);
		cosy_emit(e, GOTO, 0, 0, 1, 0);
	} else {
		insn_append(e, branch);
	}
	cosy_emit_goto(e, label);
}

void cosy_emit_unless(struct cosy_emit *e, struct bpf_insn branch, u32 label)
{
	if (branch_invert(&branch)) {
		cosy_emit_if(e, branch, label);
		return;
	}
	branch.off = 1;
	e->turn++;
	insn_append(e, branch);
	cosy_emit_goto(e, label);
}

void cosy_emit_move(struct cosy_emit *e, u32 from, u32 to)
{
	const u32 count = e->insn_cnt - from;
	struct bpf_insn moved[COSY_MAX_MOVED];
	u32 i;

	if (e->error)
		return;
	memcpy(moved, e->insns + from, count * sizeof(*moved));
	memmove(e->insns + to + count, e->insns + to, (from - to) * sizeof(*moved));
	memcpy(e->insns + to, moved, count * sizeof(*moved));
	for (i = 0; i < e->label_cnt; i++) {
		if (e->labels[i] != COSY_UNBOUND && e->labels[i] >= to)
			e->labels[i] += count;
	}
	for (i = 0; i < e->fixup_cnt; i++) {
		if (e->fixups[i].at >= to)
			e->fixups[i].at += count;
	}
	core_yield();
}

int cosy_emit_resolve(struct cosy_emit *e)
{
	u32 i;

	if (e->error)
		return e->error;
	for (i = 0; i < e->fixup_cnt; i++) {
		struct bpf_insn *jump = &e->insns[e->fixups[i].at];
		u32 target = e->labels[e->fixups[i].label];
		s32 distance = (s32)target - (s32)e->fixups[i].at - 1;

		if (jump->code == GOTOL)
			jump->imm = distance;
		else if (distance == (s16)distance)
			jump->off = distance;
		else
			return -ERANGE;
		if (i % 4096 == 4095)
			core_yield();
	}
	return 0;
}

void cosy_emit_constant(struct cosy_emit *e, u8 dst, u64 value)
{
	if ((s64)value == (s32)value) {
		emit_op_imm(e, BPF_MOV, dst, value);
		return;
	}
	cosy_emit(e, BPF_LD | BPF_IMM | BPF_DW, dst, 0, 0, value);
	cosy_emit(e, 0, 0, 0, 0, value >> 32);
}

static u32 random_word(struct cosy_emit *e)
{
	u64 x = e->random += 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x >> 32;
}

/* dst op= value by two halves that are random each */
static void blind_word(struct cosy_emit *e, u8 op, u8 dst, s32 value)
{
	s32 mask = random_word(e);

	emit_op_imm(e, op, dst, value ^ mask);
	emit_op_imm(e, BPF_XOR, dst, mask);
}

void cosy_emit_secret(struct cosy_emit *e, u8 dst, u64 value)
{
	s32 low = value, high;

	if (!e->blind) {
		cosy_emit_constant(e, dst, value);
		return;
	}
	if ((s64)value == low) {
		blind_word(e, BPF_MOV, dst, low);
		return;
	}
	/* The low half is sign-extended when it is xored in. */
	high = (s32)(value >> 32) ^ (low < 0 ? -1 : 0);
	blind_word(e, BPF_MOV, dst, high);
	emit_op_imm(e, BPF_LSH, dst, 32);
	blind_word(e, BPF_XOR, dst, low);
}

void cosy_emit_add_secret(struct cosy_emit *e, u8 dst, s16 value)
{
	s32 part;

	if (!e->blind) {
		emit_op_imm(e, BPF_ADD, dst, value);
		return;
	}
	/* Half of an s32, so that the rest is one, too. */
	part = (s32)random_word(e) >> 1;
	emit_op_imm(e, BPF_ADD, dst, part);
	emit_op_imm(e, BPF_ADD, dst, value - part);
}
