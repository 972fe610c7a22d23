// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox.c - rewrites a validated program so that it can do no harm.
 *
 *	sandbox_flow.c	entry, resume points, jumps and fuel, calls, returns
 *	sandbox_mem.c	loads, stores, atomics
 *	sandbox_piece.c	which loads and stores share a test
 *	sandbox_fetch.c	which loads outside the buffer are made together
 *	sandbox_live.c	which registers are read later
 *	sandbox_alu.c	arithmetic and constants
 *	emit.c		the growing code, its labels, hidden constants
 */
#include "reject.h"
#include "sandbox.h"

static int rewrite_init(struct cosy_rewrite *w, const struct cosy_validated *program,
			const struct cosy_sandbox *how, bool far)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	w->program = program;
	w->how = how;
	w->code.far = far;
	w->code.blind = how->blind;
	w->code.random = how->seed;
	w->code.keeper = COSY_AX;

	for (i = 0; i < program->function_cnt; i++) {
		if (program->functions[i].frame_words > w->frame_words)
			w->frame_words = program->functions[i].frame_words;
	}
	for (i = 0; i < program->insn_cnt; i++)
		w->access_cnt += !!(program->marks[i] & COSY_MARK_LEAVE);

	/* Each access may have one, and one in its slow copy. */
	w->stubs = core_alloc((2 * w->access_cnt + 1) * sizeof(*w->stubs));
	w->safepoints = core_alloc(program->insn_cnt * sizeof(*w->safepoints));
	if (!w->stubs || !w->safepoints)
		return -ENOMEM;
	for (i = 0; i < program->insn_cnt; i++)
		w->safepoints[i] = COSY_UNBOUND;

	/* The program's instructions have the first labels. */
	cosy_emit_labels(&w->code, program->insn_cnt);
	w->resume = cosy_emit_labels(&w->code, 1);
	w->returns = cosy_emit_labels(&w->code, 1);
	w->trap = cosy_emit_labels(&w->code, 1);
	if (!how->based || !how->size)
		return 0;
	if (how->copies_ax && cosy_live_find(program, &w->live))
		return -ENOMEM;
	if (cosy_fetches_init(w))
		return -ENOMEM;
	return cosy_pieces_init(w);
}

static void rewrite_deinit(struct cosy_rewrite *w)
{
	cosy_emit_deinit(&w->code);
	core_free(w->stubs);
	core_free(w->safepoints);
	core_free(w->live);
	cosy_pieces_deinit(w);
	cosy_fetches_deinit(w);
}

static void rewrite_insn(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];

	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
	case BPF_ALU:
	case BPF_ALU64:
		cosy_rewrite_alu(w, insn);
		break;
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		cosy_rewrite_access(w, at);
		break;
	default:
		cosy_rewrite_jump(w, at);
	}
}

/* Binds the label of a program instruction, which is its number. */
static void bind_insn(struct cosy_rewrite *w, u32 at)
{
	const u8 entries = COSY_MARK_TARGET | COSY_MARK_RESUME | COSY_MARK_FUNCTION;

	if (w->program->marks[at] & COSY_MARK_FUNCTION)
		w->function = cosy_function_of(w->program, at);
	if (w->program->marks[at] & entries)
		cosy_piece_bind(w, at);
	else
		cosy_emit_note(&w->code, at);
}

/* Returns whether the way from the code proper to `at` makes fetches of the slow copy again. */
static bool is_fetched_again(const struct cosy_rewrite *w, u32 at)
{
	struct cosy_refetch fetch;
	u32 from = 0;

	return cosy_fetch_again(w, at, &from, &fetch);
}

/*
 * Emits a slow copy.  It goes on in the code proper, where no access relies on a test of its
 * piece.
 */
static void rewrite_slow(struct cosy_rewrite *w, const struct cosy_slow *slow)
{
	const u32 inside = cosy_emit_labels(&w->code, slow->end - slow->first);
	u32 at;

	w->slow = slow;
	cosy_fetches_plan(w, slow);
	for (at = slow->first; at < slow->end; at++) {
		if (is_fetched_again(w, at))
			cosy_emit_bind(&w->code, inside + (at - slow->first));
		else
			cosy_emit_bind(&w->code, slow->labels + (at - slow->first));
		if (w->program->marks[at] & COSY_MARK_HEAD)
			rewrite_insn(w, at);
	}
	cosy_emit_goto(&w->code, slow->end);
	for (at = slow->first; at < slow->end; at++) {
		if (!is_fetched_again(w, at))
			continue;
		cosy_emit_bind(&w->code, slow->labels + (at - slow->first));
		cosy_emit_refetches(w, at);
		cosy_emit_goto(&w->code, inside + (at - slow->first));
	}
	w->slow = NULL;
}

static void rewrite_slows(struct cosy_rewrite *w)
{
	const struct cosy_slow *slow;
	u32 i;

	for (i = 0; (slow = cosy_piece_slow(w, i)); i++) {
		rewrite_slow(w, slow);
		if (i % 64 == 63)
			core_yield();
	}
}

/* Rewrites the whole program.  -ERANGE: a jump does not reach. */
static int rewrite_program(struct cosy_rewrite *w)
{
	u32 at;

	cosy_emit_prologue(w);
	for (at = 0; at < w->program->insn_cnt; at++) {
		if (w->program->marks[at] & COSY_MARK_HEAD) {
			cosy_piece_enter(w, at);
			bind_insn(w, at);
			rewrite_insn(w, at);
			cosy_piece_jump(w, at);
		}
		if (at % 256 == 255)
			core_yield();
	}
	rewrite_slows(w);
	cosy_emit_stubs(w);
	cosy_emit_epilogue(w);
	if (w->fetch_cnt)
		cosy_emit_clears(w);
	return cosy_emit_resolve(&w->code);
}

int cosy_sandbox(const struct cosy_validated *program, const struct cosy_sandbox *how,
		 struct cosy_code *ret, struct cosy_reject *why)
{
	struct cosy_rewrite w;
	bool far = false;
	int error;

again:
	error = rewrite_init(&w, program, how, far);
	if (!error)
		error = rewrite_program(&w);
	if (error == -ERANGE && how->has_gotol && !far) {
		rewrite_deinit(&w);
		far = true;
		goto again;
	}
	if (error == -ERANGE)
		error = cosy_refuse(
			why, -E2BIG, COSY_REJECT_CONTAINER,
			"%u instructions after sandboxing are out of this kernel's jump range",
			w.code.insn_cnt);
	if (!error) {
		ret->insns = w.code.insns;
		ret->insn_cnt = w.code.insn_cnt;
		ret->stack_size =
			w.fetch_cnt ? -COSY_FETCH_PLACE : COSY_SLOT_SIZE + 8 * w.frame_words;
		ret->based_cnt = w.based_cnt;
		w.code.insns = NULL;
	}
	rewrite_deinit(&w);
	return error;
}
