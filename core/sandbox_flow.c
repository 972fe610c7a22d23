// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox_flow.c - the flow of control: entry and resume, jumps with their fuel,
 * calls, and returns without a native frame.
 */
#include "sandbox.h"

/* Returns the label of a program instruction: its number, or in a slow copy that of its copy. */
static u32 label_of(const struct cosy_rewrite *w, u32 insn)
{
	const struct cosy_slow *slow = w->slow;

	if (slow && insn >= slow->first && insn < slow->end)
		return slow->labels + (insn - slow->first);
	return insn;
}

/* Returns the offset of word `index` of the spill frame, counted from r10 down, starting at 1. */
static s32 frame_slot(u32 index)
{
	return -COSY_SLOT_SIZE - 8 * (s32)index;
}

static s32 entry_register(u32 reg)
{
	return offsetof(struct cosy_entry, state.reg) + 8 * reg;
}

static s32 entry_frame(u32 index)
{
	return offsetof(struct cosy_entry, state.frame) + COSY_FRAME_SIZE - 8 * index;
}

/* --- Entry and resume -------------------------------------------------------------- */

/* Searches keys[low..high) for AX: goes to the label of the key that it is, or to the trap. */
static void emit_select(struct cosy_rewrite *w, const u32 *keys, const u32 *labels, u32 low,
			u32 high)
{
	struct cosy_emit *e = &w->code;
	u32 middle = low + (high - low) / 2, right;

	if (high - low <= 3) {
		for (; low < high; low++)
			cosy_emit_if(e,
				     cosy_branch(BPF_JMP | BPF_JEQ | BPF_K, COSY_AX, 0, keys[low]),
				     labels[low]);
		cosy_emit_goto(e, w->trap);
		return;
	}
	right = cosy_emit_labels(e, 1);
	cosy_emit_if(e, cosy_branch(BPF_JMP | BPF_JGE | BPF_K, COSY_AX, 0, keys[middle]), right);
	emit_select(w, keys, labels, low, middle);
	cosy_emit_bind(e, right);
	emit_select(w, keys, labels, middle, high);
}

static void emit_resume(struct cosy_rewrite *w)
{
	const struct cosy_validated *program = w->program;
	u32 *keys = core_alloc(2 * sizeof(u32) * (program->resume_cnt + 1));
	u32 *labels = keys + program->resume_cnt;
	struct cosy_emit *e = &w->code;
	u32 at, i, count = 0;

	if (!keys) {
		e->error = -ENOMEM;
		return;
	}
	for (at = 0; at < program->insn_cnt; at++) {
		if (program->marks[at] & COSY_MARK_RESUME) {
			keys[count] = at + 1;
			labels[count++] = label_of(w, at);
		}
	}

	cosy_emit_bind(e, w->resume);
	emit_fence(e);
	for (i = 1; i <= w->frame_words; i++) {
		emit_load(e, COSY_AX, 1, entry_frame(i));
		emit_store(e, COSY_FP, frame_slot(i), COSY_AX);
	}
	emit_load(e, 0, 1, entry_register(0));
	for (i = 2; i < 10; i++)
		emit_load(e, i, 1, entry_register(i));
	emit_load(e, COSY_AX, 1, offsetof(struct cosy_entry, resume));
	emit_load(e, 1, 1, entry_register(1));
	emit_select(w, keys, labels, 0, count);
	core_free(keys);
}

/* The word at r10 + off = 0 */
static void emit_clear(struct cosy_emit *e, s32 off)
{
	cosy_emit(e, BPF_ST | BPF_MEM | BPF_DW, COSY_FP, 0, off, 0);
}

/* Returns whether stores keep registers of the program's in the frame meanwhile. */
static bool keeps_registers(const struct cosy_rewrite *w)
{
	return w->how->copies_ax && w->how->based && w->how->size;
}

/*
 * Has the prologue zero where fetches put what they fetch.  It is emitted long before: only now it
 * is known that there are any.
 */
void cosy_emit_clears(struct cosy_rewrite *w)
{
	struct cosy_emit *e = &w->code;
	const u32 from = e->insn_cnt;
	u32 i;

	for (i = 0; i < cosy_fetch_room(w); i++)
		emit_clear(e, COSY_FETCH_PLACE + 8 * (s32)i);
	if (!keeps_registers(w))
		emit_fence(e);
	cosy_emit_move(e, from, w->clears_at);
}

/*
 * Zeroes every word of the frame, not only the first function's: what is below it on the kernel's
 * stack must not be there to be saved by a leave.
 *
 * A fence comes first here, and before the resume points.  The processor may have come here by a
 * misprediction, with registers that are somebody else's; and the state to resume from is there
 * only when a RUN resumes.
 */
void cosy_emit_prologue(struct cosy_rewrite *w)
{
	struct cosy_emit *e = &w->code;
	u32 i;

	emit_fence(e);
	/*
	 * A load of what is kept here may run ahead of its store. Let it find nothing of the
	 * kernel's stack: a second fence ends these stores.
	 */
	if (keeps_registers(w)) {
		emit_clear(e, COSY_SLOT_VALUE);
		emit_clear(e, COSY_SLOT_SAVE);
	}
	w->clears_at = e->insn_cnt;
	if (keeps_registers(w))
		emit_fence(e);
	emit_store(e, COSY_FP, COSY_SLOT_STATE, 1);
	emit_load(e, COSY_AX, 1, offsetof(struct cosy_entry, fuel));
	emit_store(e, COSY_FP, COSY_SLOT_FUEL, COSY_AX);
	if (w->how->based && w->how->size) {
		emit_load(e, COSY_AX, 1, offsetof(struct cosy_entry, origin));
		emit_store(e, COSY_FP, COSY_SLOT_ORIGIN, COSY_AX);
	}
	emit_load(e, COSY_AX, 1, offsetof(struct cosy_entry, resume));
	cosy_emit_if(e, cosy_branch(BPF_JMP | BPF_JNE | BPF_K, COSY_AX, 0, 0), w->resume);
	emit_load(e, 1, 1, entry_register(1));
	emit_zero(e, 0);
	for (i = 2; i < 10; i++)
		emit_zero(e, i);
	for (i = 1; i <= w->frame_words; i++)
		emit_clear(e, frame_slot(i));
}

/* --- Jumps ------------------------------------------------------------------------- */

/*
 * Goes to `target`, which is not above, and spends one fuel.  The test is signed, so that a count
 * that started at 0 comes to its safepoint at once instead of wrapping.  A slow copy's edges lead
 * to the code proper, where the next round shares its tests again.
 */
static void emit_back_edge(struct cosy_rewrite *w, u32 target)
{
	struct cosy_emit *e = &w->code;

	if (w->safepoints[target] == COSY_UNBOUND)
		w->safepoints[target] = cosy_emit_labels(e, 1);
	emit_load(e, COSY_AX, COSY_FP, COSY_SLOT_FUEL);
	emit_op_imm(e, BPF_SUB, COSY_AX, 1);
	emit_store(e, COSY_FP, COSY_SLOT_FUEL, COSY_AX);
	cosy_emit_if(e, cosy_branch(BPF_JMP | BPF_JSGT | BPF_K, COSY_AX, 0, 0), target);
	cosy_emit_goto(e, w->safepoints[target]);
}

static void emit_safepoints(struct cosy_rewrite *w)
{
	struct cosy_emit *e = &w->code;
	u32 at;

	for (at = 0; at < w->program->insn_cnt; at++) {
		if (w->safepoints[at] == COSY_UNBOUND)
			continue;
		cosy_emit_bind(e, w->safepoints[at]);
		cosy_emit_constant(e, COSY_AX, at);
		emit_thunk(w, COSY_THUNK_SAFEPOINT);
		cosy_emit_goto(e, at);
	}
}

static void rewrite_always(struct cosy_rewrite *w, u32 at, u32 target)
{
	if (target <= at)
		emit_back_edge(w, target);
	else
		cosy_emit_goto(&w->code, label_of(w, target));
}

static void rewrite_branch(struct cosy_rewrite *w, u32 at, u32 target)
{
	struct bpf_insn branch = w->program->insns[at];
	struct cosy_emit *e = &w->code;
	u32 next, turn;

	if (e->blind && BPF_SRC(branch.code) == BPF_K) {
		cosy_emit_secret(e, COSY_AX, (s64)branch.imm);
		branch = cosy_branch(branch.code | BPF_X, branch.dst_reg, COSY_AX, 0);
	}
	if (target > at) {
		cosy_emit_if(e, branch, label_of(w, target));
		return;
	}
	next = cosy_emit_labels(e, 1);
	turn = e->turn;
	cosy_emit_unless(e, branch, next);
	emit_back_edge(w, target);
	cosy_emit_bind(e, next);
	/* Only the branch leads here, past what the edge does to AX: AX is what it was. */
	cosy_ax_keep(w, turn);
}

/* --- Calls and returns ------------------------------------------------------------- */

static void rewrite_call(struct cosy_rewrite *w, u32 at)
{
	u32 number = w->program->insns[at].imm;
	enum cosy_thunk thunk = cosy_call_find(number)->thunk;

	if (number >= COSY_OP_BASE)
		number -= COSY_OP_BASE;
	else if (w->how->ordinary)
		thunk = COSY_THUNK_SYSCALL;
	cosy_emit_secret(&w->code, COSY_AX, at << 16 | number);
	emit_thunk(w, thunk);
}

static void rewrite_local_call(struct cosy_rewrite *w, u32 at)
{
	u32 target = at + 1 + w->program->insns[at].imm;
	const struct cosy_function *callee = cosy_function_of(w->program, target);

	cosy_emit_secret(&w->code, COSY_AX,
			 at << 16 | w->function->frame_words << 8 | callee->frame_words);
	emit_thunk(w, COSY_THUNK_PUSH);
	cosy_emit_goto(&w->code, label_of(w, target));
}

static void rewrite_exit(struct cosy_rewrite *w, u32 at)
{
	if (w->function->start == 0) {
		cosy_emit(&w->code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
		return;
	}
	cosy_emit_constant(&w->code, COSY_AX, at);
	emit_thunk(w, COSY_THUNK_POP);
	cosy_emit_goto(&w->code, w->returns);
}

/* Goes on after the local call whose number AX holds, from the software stack, with r1-r5 = 0. */
static void emit_returns(struct cosy_rewrite *w)
{
	const struct cosy_validated *program = w->program;
	u32 *keys = core_alloc(2 * sizeof(u32) * (program->resume_cnt + 1));
	u32 *labels = keys + program->resume_cnt;
	struct cosy_emit *e = &w->code;
	u32 at, reg, count = 0;

	if (!keys) {
		e->error = -ENOMEM;
		return;
	}
	for (at = 0; at < program->insn_cnt; at++) {
		const struct bpf_insn *insn = &program->insns[at];

		/* Calls are resume points, so the arrays are long enough. */
		if ((program->marks[at] & COSY_MARK_RESUME) && insn->code == (BPF_JMP | BPF_CALL) &&
		    insn->src_reg == BPF_PSEUDO_CALL) {
			keys[count] = at;
			labels[count++] = label_of(w, at + 1);
		}
	}
	cosy_emit_bind(e, w->returns);
	for (reg = 1; reg <= 5; reg++)
		emit_zero(e, reg);
	emit_select(w, keys, labels, 0, count);
	core_free(keys);
}

void cosy_rewrite_jump(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	u32 target = cosy_jump_target(insn, at);

	switch (BPF_OP(insn->code)) {
	case BPF_CALL:
		if (insn->src_reg == BPF_PSEUDO_CALL)
			rewrite_local_call(w, at);
		else
			rewrite_call(w, at);
		break;
	case BPF_EXIT:
		rewrite_exit(w, at);
		break;
	case BPF_JA:
		rewrite_always(w, at, target);
		break;
	default:
		rewrite_branch(w, at, target);
	}
}

void cosy_emit_epilogue(struct cosy_rewrite *w)
{
	struct cosy_emit *e = &w->code;

	emit_safepoints(w);
	emit_resume(w);
	if (w->program->function_cnt > 1)
		emit_returns(w);
	/* Nothing leads here unless the caller broke its word; the compound ends then. */
	cosy_emit_bind(e, w->trap);
	cosy_emit_constant(e, COSY_AX, COSY_OP_trap - COSY_OP_BASE);
	emit_thunk(w, COSY_THUNK_OP_trap);
	cosy_emit(e, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}
