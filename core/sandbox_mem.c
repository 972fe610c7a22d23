// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox_mem.c - loads, stores and atomics.
 *
 * With UB, KB the user's and the kernel's address of the shared buffer, S its
 * size and N the size of the access:
 *
 *	load	AX = base + (off - UB)		store	base += off - UB
 *		if AX > S - N goto stub			if base > S - N goto stub
 *		AX &= S - 1				base &= S - 1
 *		dst = KB				AX = KB
 *		dst += AX				AX += base
 *		dst = *dst				*AX = src
 *						base += UB - off
 *
 * The `and` changes nothing that the test lets through; it is there for a test that
 * is mispredicted.  A store moves its base register instead of taking a second one, so
 * it needs no register of its own; the base is whole again wherever anything can be
 * seen of it.  The stubs go through the checked accessors.
 *
 * Based code, with the kernel's address in a register B of the JIT's that no
 * instruction of BPF names, and 0 - UB in a slot of the frame:
 *
 *	AX = slot ORIGIN
 *	AX += base + off
 *	if AX > S - N goto stub
 *	AX &= S - 1
 *	dst = *(B + AX), or *(B + AX) = src
 *
 * Test and mask are the same, and neither UB nor KB is there: whatever ORIGIN holds,
 * even a mispredicted old value, the access is in the buffer.  Where the JIT does not take AX
 * in such an access (copies_ax), a register that is dead there (sandbox_live.c) stands for AX, in
 * a load the one that it overwrites.  Where none is dead, one of the program's has a copy of AX:
 *
 *	dst = AX				slot VALUE = base
 *	dst = *(B + dst)			base = AX
 *						*(B + base) = src
 *						base = slot VALUE
 *
 * Accesses that share a test (sandbox_piece.c), of LEN bytes from AX on:
 *
 *	leader	AX = slot ORIGIN		follower    dst = *(B + AX + off)
 *		AX += base + off		or, AX having changed,
 *		if AX > S - LEN goto slow copy		    AX = slot ORIGIN
 *		AX &= S - 1				    AX += base
 *		dst = *(B + AX + 0)			    AX &= S - 1
 *							    dst = *(B + AX + off)
 *
 * AX, or the keeper in its place, is masked, and off is from 0 to less than the page above the
 * buffer, which holds nothing.
 *
 * In the slow copy, loads that are fetched together (sandbox_fetch.c), with F a place in the frame:
 *
 *	leader	slot INSN = word << 24 | insn	follower    dst = *(F + off)
 *		AX = base + low
 *		call FETCH: F = WORDS words of AX
 *		dst = *(F + off)
 */
#include "sandbox.h"

/* Returns 0-3 for 1-8 bytes, the order of the load and store thunks. */
static u32 size_order(const struct bpf_insn *insn)
{
	u32 size = cosy_access_size(insn);

	return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

static bool is_plain(const struct cosy_rewrite *w, u64 value)
{
	return !w->code.blind && (s64)value == (s32)value;
}

/* AX = reg + delta */
static void emit_sum(struct cosy_rewrite *w, u8 reg, u64 delta)
{
	struct cosy_emit *e = &w->code;

	if (delta && !is_plain(w, delta)) {
		cosy_emit_secret(e, COSY_AX, delta);
		emit_op(e, BPF_ADD, COSY_AX, reg);
		return;
	}
	emit_move(e, COSY_AX, reg);
	if (delta)
		emit_op_imm(e, BPF_ADD, COSY_AX, delta);
}

/* reg += delta, by way of AX when the constant does not fit or has to be hidden */
static void emit_move_base(struct cosy_rewrite *w, u8 reg, u64 delta)
{
	struct cosy_emit *e = &w->code;

	if (is_plain(w, delta)) {
		emit_op_imm(e, BPF_ADD, reg, delta);
		return;
	}
	cosy_emit_secret(e, COSY_AX, delta);
	emit_op(e, BPF_ADD, reg, COSY_AX);
}

static u64 buffer_delta(const struct cosy_rewrite *w, const struct bpf_insn *insn)
{
	return (u64)(s64)insn->off - w->how->user_base;
}

/* dst = reg + delta, less the buffer's user address: an offset, if it is in the buffer. */
static void emit_based_offset(struct cosy_rewrite *w, u8 dst, u8 reg, s32 delta)
{
	emit_load(&w->code, dst, COSY_FP, COSY_SLOT_ORIGIN);
	emit_op(&w->code, BPF_ADD, dst, reg);
	if (delta)
		cosy_emit_add_secret(&w->code, dst, delta);
}

/* Goes to the stub when reg is no offset of an N-byte access, and masks it. */
static void emit_bound(struct cosy_rewrite *w, u8 reg, const struct bpf_insn *insn, u32 stub)
{
	s32 last = w->how->size - cosy_access_size(insn);

	cosy_emit_if(&w->code, cosy_branch(BPF_JMP | BPF_JGT | BPF_K, reg, 0, last), stub);
	emit_op_imm(&w->code, BPF_AND, reg, w->how->size - 1);
}

static struct cosy_stub *new_stub(struct cosy_rewrite *w, u32 at)
{
	struct cosy_stub *stub = &w->stubs[w->stub_cnt++];

	stub->insn = at;
	stub->entry = cosy_emit_labels(&w->code, 2);
	stub->back = stub->entry + 1;
	return stub;
}

/* --- Accesses that share a test ---------------------------------------------------- */

static void ax_set(struct cosy_rewrite *w, const struct cosy_near *near, s32 at)
{
	w->ax = (struct cosy_ax){near->group, at, w->code.turn};
}

/* The keeper = the masked offset of the group's first byte, or goes to the slow copy. */
static void emit_lead(struct cosy_rewrite *w, const struct cosy_near *near, u8 reg, s32 off,
		      u32 slow)
{
	struct cosy_emit *e = &w->code;
	s32 last = w->how->size - (near->high - near->low);

	emit_based_offset(w, e->keeper, reg, near->low - near->at + off);
	cosy_emit_if(e, cosy_branch(BPF_JMP | BPF_JGT | BPF_K, e->keeper, 0, last), slow);
	emit_op_imm(e, BPF_AND, e->keeper, w->how->size - 1);
	ax_set(w, near, near->low);
}

/* The keeper = the masked offset of something of the group, at the access or below it. */
static void emit_follow(struct cosy_rewrite *w, const struct cosy_near *near, u8 reg, s32 off)
{
	s32 base = near->at - off;

	if (w->ax.group == near->group && w->ax.turn == w->code.turn && w->ax.at <= near->at)
		return;
	/*
	 * Count from where the register points if that has been tested as well, else from the
	 * access.
	 */
	if (off < 0 || base < near->low)
		base = near->at;
	emit_based_offset(w, w->code.keeper, reg, base - (near->at - off));
	emit_op_imm(&w->code, BPF_AND, w->code.keeper, w->how->size - 1);
	ax_set(w, near, base);
}

/* Makes the keeper what the access counts from.  Returns how far above that the access is. */
static s32 emit_near(struct cosy_rewrite *w, const struct cosy_near *near, u8 reg, s32 off,
		     u32 slow)
{
	if (near->leads)
		emit_lead(w, near, reg, off, slow);
	else
		emit_follow(w, near, reg, off);
	return near->at - w->ax.at;
}

static void emit_insn_slot(struct cosy_rewrite *w, u32 what)
{
	cosy_emit(&w->code, BPF_ST | BPF_MEM | BPF_DW, COSY_FP, 0, COSY_SLOT_INSN, what);
}

/*
 * Returns the register for the offset of an access that has a test of its own: AX, or where the JIT
 * takes no AX the one that a load overwrites, or one that is dead.
 */
static u8 choose_base(const struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	u32 used;

	if (!w->live)
		return COSY_AX;
	if (BPF_CLASS(insn->code) == BPF_LDX && insn->dst_reg != insn->src_reg)
		return insn->dst_reg;
	used = cosy_registers_used(w->program, w->live, at);
	if (w->code.keeper != COSY_AX)
		used |= 1u << w->code.keeper;
	return cosy_register_unused(w, used);
}

/* --- Loads --------------------------------------------------------------------- */

static bool is_signed(const struct bpf_insn *insn)
{
	return BPF_MODE(insn->code) == BPF_MEMSX;
}

/* dst = *(base + off), lowered when the JIT has no sign-extending loads */
static void emit_raw_load(struct cosy_rewrite *w, const struct bpf_insn *insn, u8 base, s32 off)
{
	struct cosy_emit *e = &w->code;

	if (!is_signed(insn) || w->how->has_v4) {
		cosy_emit(e, insn->code, insn->dst_reg, base, off, 0);
		return;
	}
	cosy_emit(e, BPF_LDX | BPF_MEM | BPF_SIZE(insn->code), insn->dst_reg, base, off, 0);
	cosy_emit_sign_extend(e, insn->dst_reg, 8 * cosy_access_size(insn), true);
}

static void emit_checked_load(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	u32 first = is_signed(insn) ? COSY_THUNK_LOADS1 : COSY_THUNK_LOAD1;

	emit_insn_slot(w, at);
	emit_sum(w, insn->src_reg, (s64)insn->off);
	emit_thunk(w, first + size_order(insn));
	emit_move(&w->code, insn->dst_reg, COSY_AX);
}

/* dst = *(B + base + off); there is no sign-extending one in all JITs that have B. */
static void emit_based_load(struct cosy_rewrite *w, const struct bpf_insn *insn, u8 base, s32 off)
{
	struct cosy_emit *e = &w->code;
	u8 dst = insn->dst_reg;

	if (w->how->copies_ax && base == COSY_AX) {
		emit_move(e, dst, COSY_AX);
		base = dst;
	}
	w->based_cnt++;
	cosy_emit(e, BPF_LDX | BPF_PROBE_MEM32 | BPF_SIZE(insn->code), dst, base, off, 0);
	if (is_signed(insn))
		cosy_emit(e, BPF_ALU64 | BPF_MOV | BPF_X, dst, dst, 8 * cosy_access_size(insn), 0);
}

/* The words of COSY_FETCH_PLACE from `word` on = `words` words at reg + delta */
static void emit_fetch(struct cosy_rewrite *w, u32 at, u8 reg, u64 delta, u32 word, u32 words)
{
	emit_insn_slot(w, word << 24 | at);
	emit_sum(w, reg, delta);
	emit_thunk(w, COSY_THUNK_FETCH + words - 1);
	w->fetch_cnt++;
}

void cosy_emit_refetches(struct cosy_rewrite *w, u32 at)
{
	struct cosy_refetch fetch;
	u32 from = 0;

	while (cosy_fetch_again(w, at, &from, &fetch))
		emit_fetch(w, at, fetch.reg, fetch.delta, fetch.word, fetch.words);
}

/* dst = bytes that this load, or an earlier one, fetches from outside the buffer. */
static void emit_fetched_load(struct cosy_rewrite *w, u32 at, const struct cosy_fetched *fetched)
{
	const struct bpf_insn *insn = &w->program->insns[at];

	if (fetched->leads)
		emit_fetch(w, at, insn->src_reg, (s64)insn->off + fetched->low, fetched->word,
			   fetched->words);
	emit_raw_load(w, insn, COSY_FP, fetched->off);
}

static void emit_buffer_load(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	struct cosy_emit *e = &w->code;
	struct cosy_fetched fetched;
	struct cosy_stub *stub;
	struct cosy_near near;
	u8 base;

	if (cosy_fetch_find(w, at, &fetched)) {
		emit_fetched_load(w, at, &fetched);
		return;
	}

	if (cosy_piece_find(w, at, &near)) {
		s32 off = emit_near(w, &near, insn->src_reg, insn->off, near.slow);

		emit_based_load(w, insn, e->keeper, off);
		return;
	}
	stub = new_stub(w, at);
	if (w->how->based) {
		base = choose_base(w, at);
		emit_based_offset(w, base, insn->src_reg, insn->off);
		emit_bound(w, base, insn, stub->entry);
		emit_based_load(w, insn, base, 0);
	} else {
		emit_sum(w, insn->src_reg, buffer_delta(w, insn));
		emit_bound(w, COSY_AX, insn, stub->entry);
		cosy_emit_constant(e, insn->dst_reg, w->how->kernel_base);
		emit_op(e, BPF_ADD, insn->dst_reg, COSY_AX);
		emit_raw_load(w, insn, insn->dst_reg, 0);
	}
	cosy_emit_bind(e, stub->back);
}

static void rewrite_load(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];

	if (insn->src_reg == COSY_FP)
		emit_raw_load(w, insn, COSY_FP, insn->off - COSY_SLOT_SIZE);
	else if (w->how->size)
		emit_buffer_load(w, at);
	else
		emit_checked_load(w, at);
}

/* --- Stores -------------------------------------------------------------------- */

static bool is_immediate(const struct bpf_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_ST;
}

/* *(base + off) = what the instruction stores, which is in register `value` if not immediate */
static void emit_raw_store(struct cosy_rewrite *w, const struct bpf_insn *insn, u8 base, s32 off,
			   u8 value)
{
	struct cosy_emit *e = &w->code;

	if (value == COSY_FP)
		cosy_emit(e, insn->code, base, 0, off, insn->imm);
	else
		cosy_emit(e, BPF_STX | BPF_MEM | BPF_SIZE(insn->code), base, value, off, 0);
}

/*
 * Returns whether a store to the buffer borrows a register.  It has none left for a hidden
 * constant, and where bases are moved, a store of its own base would store the moved one.
 */
static bool is_borrowing(const struct cosy_rewrite *w, const struct bpf_insn *insn)
{
	if (is_immediate(insn))
		return w->code.blind;
	return insn->src_reg == insn->dst_reg && !w->how->based;
}

static u8 register_borrowed(const struct bpf_insn *insn)
{
	return insn->dst_reg ? 0 : 1;
}

static void emit_borrow(struct cosy_rewrite *w, const struct bpf_insn *insn)
{
	emit_store(&w->code, COSY_FP, COSY_SLOT_SAVE, register_borrowed(insn));
	if (is_immediate(insn))
		cosy_emit_secret(&w->code, register_borrowed(insn), (s64)insn->imm);
	else
		emit_move(&w->code, register_borrowed(insn), insn->src_reg);
}

static void emit_give_back(struct cosy_rewrite *w, const struct bpf_insn *insn)
{
	emit_load(&w->code, register_borrowed(insn), COSY_FP, COSY_SLOT_SAVE);
}

static void emit_value_slot(struct cosy_rewrite *w, const struct bpf_insn *insn)
{
	struct cosy_emit *e = &w->code;

	if (!is_immediate(insn)) {
		emit_store(e, COSY_FP, COSY_SLOT_VALUE, insn->src_reg);
	} else if (!w->code.blind) {
		cosy_emit(e, BPF_ST | BPF_MEM | BPF_DW, COSY_FP, 0, COSY_SLOT_VALUE, insn->imm);
	} else {
		cosy_emit_secret(e, COSY_AX, (s64)insn->imm);
		emit_store(e, COSY_FP, COSY_SLOT_VALUE, COSY_AX);
	}
}

static void emit_checked_store(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];

	emit_value_slot(w, insn);
	emit_insn_slot(w, at);
	emit_sum(w, insn->dst_reg, (s64)insn->off);
	emit_thunk(w, COSY_THUNK_STORE1 + size_order(insn));
}

/* *(B + base + off) = what emit_raw_store stores */
static void emit_based_store(struct cosy_rewrite *w, const struct bpf_insn *insn, u8 base, s32 off,
			     u8 value)
{
	bool copies = w->how->copies_ax && base == COSY_AX;
	u8 how = BPF_PROBE_MEM32 | BPF_SIZE(insn->code);
	struct cosy_emit *e = &w->code;

	if (copies) {
		base = insn->dst_reg == value ? register_borrowed(insn) : insn->dst_reg;
		emit_store(e, COSY_FP, COSY_SLOT_VALUE, base);
		emit_move(e, base, COSY_AX);
	}
	w->based_cnt++;
	if (value == COSY_FP)
		cosy_emit(e, BPF_ST | how, base, 0, off, insn->imm);
	else
		cosy_emit(e, BPF_STX | how, base, value, off, 0);
	if (copies)
		emit_load(e, base, COSY_FP, COSY_SLOT_VALUE);
}

/*
 * Emits a store that shares a test.  What it borrowed is given back on the way to the slow copy,
 * too.
 */
static void emit_near_store(struct cosy_rewrite *w, u32 at, const struct cosy_near *near)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	u8 value = is_immediate(insn) ? COSY_FP : insn->src_reg;
	u32 slow = near->slow;
	s32 off;

	if (is_borrowing(w, insn)) {
		emit_borrow(w, insn);
		value = register_borrowed(insn);
	}
	if (is_borrowing(w, insn) && near->leads) {
		struct cosy_stub *stub = new_stub(w, at);

		stub->returns = true;
		stub->back = slow;
		slow = stub->entry;
	}
	off = emit_near(w, near, insn->dst_reg, insn->off, slow);
	emit_based_store(w, insn, w->code.keeper, off, value);
	if (is_borrowing(w, insn))
		emit_give_back(w, insn);
}

static void emit_buffer_store(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	u8 value = is_immediate(insn) ? COSY_FP : insn->src_reg;
	u64 delta = buffer_delta(w, insn);
	struct cosy_emit *e = &w->code;
	struct cosy_stub *stub;
	struct cosy_near near;

	if (cosy_piece_find(w, at, &near)) {
		emit_near_store(w, at, &near);
		return;
	}
	stub = new_stub(w, at);
	if (is_borrowing(w, insn)) {
		emit_borrow(w, insn);
		value = register_borrowed(insn);
	}
	if (w->how->based) {
		u8 base = choose_base(w, at);

		emit_based_offset(w, base, insn->dst_reg, insn->off);
		emit_bound(w, base, insn, stub->entry);
		emit_based_store(w, insn, base, 0, value);
	} else {
		emit_move_base(w, insn->dst_reg, delta);
		emit_bound(w, insn->dst_reg, insn, stub->entry);
		cosy_emit_constant(e, COSY_AX, w->how->kernel_base);
		emit_op(e, BPF_ADD, COSY_AX, insn->dst_reg);
		emit_raw_store(w, insn, COSY_AX, 0, value);
		emit_move_base(w, insn->dst_reg, -delta);
	}
	if (is_borrowing(w, insn))
		emit_give_back(w, insn);
	cosy_emit_bind(e, stub->back);
}

static void rewrite_frame_store(struct cosy_rewrite *w, const struct bpf_insn *insn)
{
	s32 off = insn->off - COSY_SLOT_SIZE;

	if (!is_immediate(insn)) {
		emit_raw_store(w, insn, COSY_FP, off, insn->src_reg);
	} else if (!w->code.blind) {
		emit_raw_store(w, insn, COSY_FP, off, COSY_FP);
	} else {
		cosy_emit_secret(&w->code, COSY_AX, (s64)insn->imm);
		emit_raw_store(w, insn, COSY_FP, off, COSY_AX);
	}
}

static void rewrite_store(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];

	if (insn->dst_reg == COSY_FP)
		rewrite_frame_store(w, insn);
	else if (w->how->size)
		emit_buffer_store(w, at);
	else
		emit_checked_store(w, at);
}

/* --- Atomics: always by the thunk, which has the lock prefix and the registers -- */

static void rewrite_atomic(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	u32 what = at << 16 | (BPF_SIZE(insn->code) == BPF_DW ? 0x100 : 0) | insn->imm;
	struct cosy_emit *e = &w->code;

	emit_store(e, COSY_FP, COSY_SLOT_VALUE, insn->src_reg);
	cosy_emit_secret(e, COSY_AX, what);
	emit_store(e, COSY_FP, COSY_SLOT_INSN, COSY_AX);
	emit_sum(w, insn->dst_reg, (s64)insn->off);
	emit_thunk(w, COSY_THUNK_ATOMIC);
	if (insn->imm == BPF_CMPXCHG)
		emit_move(e, 0, COSY_AX);
	else if (insn->imm & BPF_FETCH)
		emit_move(e, insn->src_reg, COSY_AX);
}

void cosy_rewrite_access(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];

	if (BPF_CLASS(insn->code) == BPF_LDX)
		rewrite_load(w, at);
	else if (BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC)
		rewrite_atomic(w, at);
	else
		rewrite_store(w, at);
}

void cosy_emit_stubs(struct cosy_rewrite *w)
{
	u32 i;

	for (i = 0; i < w->stub_cnt; i++) {
		const struct cosy_stub *stub = &w->stubs[i];
		const struct bpf_insn *insn = &w->program->insns[stub->insn];

		cosy_emit_bind(&w->code, stub->entry);
		if (stub->returns) {
			emit_give_back(w, insn);
		} else if (BPF_CLASS(insn->code) == BPF_LDX) {
			emit_checked_load(w, stub->insn);
		} else {
			if (!w->how->based)
				emit_move_base(w, insn->dst_reg, -buffer_delta(w, insn));
			if (is_borrowing(w, insn))
				emit_give_back(w, insn);
			emit_checked_store(w, stub->insn);
		}
		cosy_emit_goto(&w->code, stub->back);
		if (i % 1024 == 1023)
			core_yield();
	}
}
