// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox_fetch.c - loads outside the shared buffer that are made together.
 *
 *	r2 = *(u64 *)(r1 + 0)	leader: fetches [r1, r1 + 24) to F, a place in the frame; r2 = *(F + 0)
 *	if r2 == 0 goto ..
 *	r3 = *(u64 *)(r1 + 16)	follower: r3 = *(F + 16)
 *
 * A slow copy (sandbox_piece.c) runs because an address is not in the buffer.  By itself each load
 * would test that again and call a thunk.  Here a leader's thunk copies all bytes of its fetch, and
 * the followers read the copy.
 *
 * The copy holds until memory may change by this program, or another way may lead here: from a
 * leader to its last follower there is no store that may change the bytes, no atomic, no call and
 * no place that a jump leads to which is not from between them as well.  Jumps away are allowed.
 * So a follower's value is what its bytes were when the leader ran, a few instructions before.  An
 * ordered load (volatile or atomic) stands between two `goto +0`, which end all fetches.
 *
 * The code proper may lead to a leader of another group, having found the memory of this one in the
 * buffer.  On that way the bytes are fetched again, from what a register still holds of the address.
 *
 * If the copy faults, the compound leaves at its leader, with nothing done, and the interpreter
 * makes the loads one by one.  So a fetch may take in bytes that the program does not read: those
 * between two loads, those of loads that a jump skips, and up to seven before and after.
 *
 * Safety does not depend on this file.  The thunk writes only to the words at COSY_FETCH_PLACE,
 * the prologue clears them, and cosy_verify checks that the frame has them.
 */
#include "fetch.h"
#include "sandbox.h"

/* Limits of the instructions of a slow copy, and of the fetches that go on at one time. */
enum { MAX_SLOW = 512, MAX_FETCHES = MAX_SLOW / 2, MAX_OPEN = 4, MAX_REPEATS = 32 };

struct fetch {
	struct cosy_register_value place; /* of the leader */
	struct cosy_fetch_span span;	  /* counted from there */
	u32 first, last;		  /* the leader, the last follower */
	u32 loads;
	u32 word; /* of COSY_FETCH_PLACE, or COSY_FETCH_WORDS: made by single loads */
};

/* A way from the code proper to `at`, between a fetch's leader and its last follower. */
struct repeat {
	u32 at, fetch;
	u8 reg;	   /* holds the leader's address */
	u64 delta; /* .. less this */
};

struct cosy_fetches {
	struct fetch fetches[MAX_FETCHES];
	u32 count;
	struct repeat repeats[MAX_REPEATS];
	u32 repeat_cnt;
	u16 open[MAX_OPEN]; /* those that may still take in loads, the newest first */
	u32 open_cnt;
	u32 start;
	u8 loads[MAX_SLOW];   /* the number of the load's fetch + 1, or 0 */
	s32 places[MAX_SLOW]; /* its first byte, from the leader's */
};

u32 cosy_fetch_room(const struct cosy_rewrite *w)
{
	const u32 left = COSY_FRAME_SIZE / 8 - w->frame_words;

	return left < COSY_FETCH_WORDS ? left : COSY_FETCH_WORDS;
}

int cosy_fetches_init(struct cosy_rewrite *w)
{
	w->fetches = core_alloc(sizeof(*w->fetches));
	return w->fetches ? 0 : -ENOMEM;
}

void cosy_fetches_deinit(struct cosy_rewrite *w)
{
	core_free(w->fetches);
}

/* --- Loads ------------------------------------------------------------------------- */

static bool is_near(s64 distance)
{
	return distance >= -COSY_REACH && distance <= COSY_REACH;
}

static void open_fetch(struct cosy_fetches *f, u32 index)
{
	u32 i;

	if (f->open_cnt < MAX_OPEN)
		f->open_cnt++;
	for (i = f->open_cnt - 1; i > 0; i--)
		f->open[i] = f->open[i - 1];
	f->open[0] = index;
}

static void plan_load(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	struct cosy_register_value place = cosy_value_of(w, insn->src_reg);
	const s32 size = cosy_access_size(insn);
	struct cosy_fetches *f = w->fetches;
	struct fetch *fetch;
	u32 i;

	place.delta += (s64)insn->off;
	for (i = 0; i < f->open_cnt; i++) {
		s64 distance;

		fetch = &f->fetches[f->open[i]];
		distance = place.delta - fetch->place.delta;
		if (fetch->place.number != place.number || !is_near(distance) ||
		    !cosy_fetch_widen(&fetch->span, distance, size, cosy_fetch_room(w)))
			continue;
		fetch->last = at;
		fetch->loads++;
		f->loads[at - f->start] = f->open[i] + 1;
		f->places[at - f->start] = distance;
		return;
	}
	if (f->count == MAX_FETCHES - 1)
		return;
	f->fetches[f->count] = (struct fetch){.place = place,
					      .span = {.high = size, .size = size},
					      .first = at,
					      .last = at,
					      .loads = 1};
	open_fetch(f, f->count++);
	f->loads[at - f->start] = f->count;
	f->places[at - f->start] = 0;
}

/*
 * Ends the fetches that a store may change.  It changes none of those that it is a known distance
 * away from; but they take in no more bytes, which may be the ones that are stored.
 */
static void plan_store(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	const struct cosy_register_value base = cosy_value_of(w, insn->dst_reg);
	const s32 size = cosy_access_size(insn);
	struct cosy_fetches *f = w->fetches;
	u32 i, left = 0;

	for (i = 0; i < f->open_cnt; i++) {
		struct fetch *fetch = &f->fetches[f->open[i]];
		s64 distance = base.delta + insn->off - fetch->place.delta;

		if (base.number != fetch->place.number || !is_near(distance) ||
		    cosy_fetch_is_changed(&fetch->span, distance, size))
			continue;
		f->open[left++] = f->open[i];
	}
	f->open_cnt = left;
}

/* Notes a register that holds the leader's address at instruction `at`; false: none does. */
static bool plan_repeat(struct cosy_rewrite *w, u32 at, u32 index)
{
	struct cosy_fetches *f = w->fetches;
	const struct cosy_register_value *place = &f->fetches[index].place;
	u8 reg;

	for (reg = 0; reg < 10 && f->repeat_cnt < MAX_REPEATS; reg++) {
		const struct cosy_register_value value = cosy_value_of(w, reg);

		if (value.number != place->number)
			continue;
		f->repeats[f->repeat_cnt++] =
			(struct repeat){at, index, reg, place->delta - value.delta};
		return true;
	}
	return false;
}

/* Ends the fetches that cannot be made again on the way that leads to `at`. */
static void plan_entry(struct cosy_rewrite *w, u32 at)
{
	struct cosy_fetches *f = w->fetches;
	u32 i, left = 0;

	for (i = 0; i < f->open_cnt; i++) {
		if (plan_repeat(w, at, f->open[i]))
			f->open[left++] = f->open[i];
	}
	f->open_cnt = left;
}

/*
 * Keeps, at a place that jumps lead to, the fetches whose leader has run on each way there: it is
 * before the first of the jumps.
 */
static void plan_join(struct cosy_rewrite *w, u32 at, bool dead)
{
	struct cosy_fetches *f = w->fetches;
	u32 i, from, left = 0;

	if (!cosy_values_join(w, at, dead, &from)) {
		cosy_values_forget(w);
		from = 0;
	}
	for (i = 0; i < f->open_cnt; i++) {
		if (f->fetches[f->open[i]].first < from)
			f->open[left++] = f->open[i];
	}
	f->open_cnt = left;
}

static bool is_goto(const struct bpf_insn *insn)
{
	return cosy_insn_jumps(insn) && BPF_OP(insn->code) == BPF_JA;
}

static void plan_insn(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];

	if (is_goto(insn) && cosy_jump_target(insn, at) == at + 1)
		w->fetches->open_cnt = 0;
	if (!(w->program->marks[at] & COSY_MARK_LEAVE))
		return;
	if (BPF_CLASS(insn->code) == BPF_LDX)
		plan_load(w, at);
	else if (BPF_MODE(insn->code) == BPF_ATOMIC)
		w->fetches->open_cnt = 0;
	else
		plan_store(w, at);
}

/* --- Places ------------------------------------------------------------------------ */

/* Gives each fetch words that no other one needs from its leader to its last follower. */
static void choose_words(struct cosy_rewrite *w)
{
	const u32 room = cosy_fetch_room(w);
	struct cosy_fetches *f = w->fetches;
	u32 until[COSY_FETCH_WORDS] = {0}; /* the instruction after the word's last load */
	u32 i, word, words, free;

	for (i = 0; i < f->count; i++) {
		struct fetch *fetch = &f->fetches[i];

		fetch->word = COSY_FETCH_WORDS;
		words = cosy_fetch_words(&fetch->span);
		if (!cosy_fetch_pays(&fetch->span, fetch->loads))
			continue;
		for (word = free = 0; word < room && free < words; word++)
			free = until[word] <= fetch->first ? free + 1 : 0;
		if (free < words)
			continue;
		fetch->word = word - words;
		while (word > fetch->word)
			until[--word] = fetch->last + 1;
	}
}

void cosy_fetches_plan(struct cosy_rewrite *w, const struct cosy_slow *slow)
{
	struct cosy_fetches *f = w->fetches;
	bool dead = false; /* only jumps lead to the next instruction */
	u32 at;

	f->count = f->open_cnt = f->repeat_cnt = 0;
	f->start = slow->first;
	cosy_values_begin(w);
	for (at = slow->first; at < slow->end; at++) {
		f->loads[at - f->start] = 0;
		if (!(w->program->marks[at] & COSY_MARK_HEAD))
			continue;
		if (w->program->marks[at] & COSY_MARK_TARGET) {
			plan_join(w, at, dead);
			dead = false;
		}
		if (cosy_piece_leads(w, at))
			plan_entry(w, at);
		plan_insn(w, at);
		cosy_values_follow(w, at, slow->end);
		dead |= is_goto(&w->program->insns[at]);
	}
	choose_words(w);
}

bool cosy_fetch_find(const struct cosy_rewrite *w, u32 at, struct cosy_fetched *ret)
{
	const struct cosy_fetches *f = w->fetches;
	const struct fetch *fetch;
	s32 low;

	if (!w->slow || !f->loads[at - f->start])
		return false;
	fetch = &f->fetches[f->loads[at - f->start] - 1];
	if (fetch->word == COSY_FETCH_WORDS)
		return false;
	low = cosy_fetch_begin(&fetch->span) - f->places[at - f->start];
	*ret = (struct cosy_fetched){.leads = at == fetch->first,
				     .low = low,
				     .word = fetch->word,
				     .words = cosy_fetch_words(&fetch->span),
				     .off = COSY_FETCH_PLACE + 8 * (s32)fetch->word - low};
	return true;
}

bool cosy_fetch_again(const struct cosy_rewrite *w, u32 at, u32 *from, struct cosy_refetch *ret)
{
	const struct cosy_fetches *f = w->fetches;

	while (*from < f->repeat_cnt) {
		const struct repeat *repeat = &f->repeats[(*from)++];
		const struct fetch *fetch = &f->fetches[repeat->fetch];

		if (repeat->at != at || fetch->word == COSY_FETCH_WORDS || fetch->last < at)
			continue;
		*ret = (struct cosy_refetch){.reg = repeat->reg,
					     .delta =
						     repeat->delta + cosy_fetch_begin(&fetch->span),
					     .word = fetch->word,
					     .words = cosy_fetch_words(&fetch->span)};
		return true;
	}
	return false;
}
