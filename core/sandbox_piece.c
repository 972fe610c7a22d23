// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox_piece.c - pieces of based code, where one test serves several accesses.
 *
 *	r2 = *(u8 *)(r1 + 0)	leader: are all of [r1, r1 + 3) in the buffer?
 *	r3 = *(u8 *)(r1 + 1)	follower
 *	r1 += 2
 *	r4 = *(u8 *)(r1 + 0)	follower
 *
 * A piece is straight code that only its first instruction leads into: jumps out of it, forward
 * ones within it and back edges to its first instruction are allowed.  Registers are numbered by
 * their values.  A copy has the same value, and so has a sum with a constant, at a distance; two
 * sums of the same two values are the same value, too.  Accesses by one value are a group: a
 * leader, which runs before all the others, and its followers.
 *
 * The leader tests the whole span of its group, so its followers access the bytes that
 * the program names.  If the test fails they do not run: the piece continues in its slow
 * copy, where every access has its own test.  Either way the program's behaviour is
 * exact.
 *
 * Offsets are in AX, or in a register that is dead in the whole piece (the keeper).
 *
 * Safety does not depend on this file: a follower is masked like its leader, and
 * cosy_verify checks that in the emitted code.
 */
#include "sandbox.h"

/* Limits of the instructions that are analysed together, and of the facts known at one time. */
enum { MAX_PIECE = 512, MAX_GROUPS = 16, MAX_SUMS = 8, MAX_JOINS = 12 };

/* Numbers of values: that of every constant, which deltas tell apart; and of none. */
enum { CONSTANT = 0, NO_VALUE = ~0 };

/* The content of a register: a value that is not known, and how far it is from there. */
struct known {
	u32 value;
	u64 delta;
};

/* value = a + b */
struct sum {
	u32 a, b, value;
};

/* The content of the keeper after all jumps to a join that are emitted so far. */
struct ax_join {
	u32 at;	  /* 0: none */
	u32 seen; /* jumps */
	struct cosy_ax ax;
};

/* A place where forward jumps of the piece meet, and what is the same after all of them. */
struct join {
	u32 at;	  /* 0: none */
	u32 from; /* the first of the jumps */
	u32 seen; /* jumps */
	struct known regs[10];
};

struct group {
	u32 value, followers;
	u32 first, last; /* the leader, the last follower */
	u64 place;	 /* the leader's delta; others are counted from there */
	s32 low, high;	 /* bytes from there that the leader tests */
};

struct access {
	u8 group; /* its number + 1; 0: it stands alone */
	s32 at;	  /* its first byte, from the group's place */
};

struct cosy_pieces {
	u16 *shapes; /* [insn_cnt] jumps that lead there; IN_LOOP, LEADS */
	struct cosy_slow *slows;
	u32 slow_cnt;

	u32 start, end; /* the piece that is emitted */
	struct group groups[MAX_GROUPS];
	u32 group_cnt;
	struct access accesses[MAX_PIECE];

	/* While it is planned. */
	struct known regs[10];
	struct sum sums[MAX_SUMS];
	struct join joins[MAX_JOINS];
	u32 value_cnt, sum_cnt;

	/* While it is emitted. */
	struct ax_join ax_joins[MAX_JOINS];
	bool dead; /* only jumps lead to the next instruction */
};

#define IN_LOOP	  0x8000
#define LEADS	  0x4000 /* a jump leads to its copy in a slow copy */
#define MAX_JUMPS 0x3fff /* more count as so many */

/* --- The whole program ------------------------------------------------------------- */

/* Counts jumps, and marks what is in a loop: code that runs once is not worth a slow copy. */
static void find_shapes(u16 *shapes, const struct cosy_validated *program)
{
	u32 at, low = ~0u;

	for (at = program->insn_cnt; at-- > 0;) {
		const struct bpf_insn *insn = &program->insns[at];

		if (program->marks[at] & COSY_MARK_HEAD && cosy_insn_jumps(insn)) {
			u32 target = cosy_jump_target(insn, at);

			if ((shapes[target] & MAX_JUMPS) < MAX_JUMPS)
				shapes[target]++;
			if (target <= at && target < low)
				low = target;
		}
		/* A function may be called in a loop. */
		if (low <= at || (program->function_cnt > 1 && at >= program->functions[1].start))
			shapes[at] |= IN_LOOP;
		if (at % 4096 == 0)
			core_yield();
	}
}

int cosy_pieces_init(struct cosy_rewrite *w)
{
	struct cosy_pieces *p = core_alloc(sizeof(*p));

	w->pieces = p;
	if (!p)
		return -ENOMEM;
	p->shapes = core_alloc(w->program->insn_cnt * sizeof(*p->shapes));
	/* A slow copy has two accesses or more. */
	p->slows = core_alloc((w->access_cnt / 2 + 1) * sizeof(*p->slows));
	if (!p->shapes || !p->slows)
		return -ENOMEM;
	find_shapes(p->shapes, w->program);
	return 0;
}

void cosy_pieces_deinit(struct cosy_rewrite *w)
{
	if (!w->pieces)
		return;
	core_free(w->pieces->shapes);
	core_free(w->pieces->slows);
	core_free(w->pieces);
}

/* --- Values ------------------------------------------------------------------------ */

static void set_new(struct cosy_pieces *p, struct known *known)
{
	*known = (struct known){p->value_cnt++, 0};
}

static void set_constant(struct cosy_pieces *p, u8 reg, u64 value)
{
	p->regs[reg] = (struct known){CONSTANT, value};
}

static void add_register(struct cosy_pieces *p, struct known *dst, const struct known *src)
{
	u32 a = dst->value < src->value ? dst->value : src->value;
	u32 b = dst->value < src->value ? src->value : dst->value;
	u32 i;

	dst->delta += src->delta;
	dst->value = b;
	if (a == CONSTANT)
		return;
	for (i = 0; i < p->sum_cnt && i < MAX_SUMS; i++) {
		if (p->sums[i].a == a && p->sums[i].b == b) {
			dst->value = p->sums[i].value;
			return;
		}
	}
	dst->value = p->value_cnt++;
	p->sums[p->sum_cnt++ % MAX_SUMS] = (struct sum){a, b, dst->value};
}

static void plan_arithmetic(struct cosy_pieces *p, const struct bpf_insn *insn)
{
	struct known *dst = &p->regs[insn->dst_reg];

	switch (insn->code) {
	case BPF_ALU64 | BPF_MOV | BPF_K:
		set_constant(p, insn->dst_reg, (s64)insn->imm);
		break;
	case BPF_ALU64 | BPF_MOV | BPF_X:
		if (insn->off)
			set_new(p, dst);
		else
			*dst = p->regs[insn->src_reg];
		break;
	case BPF_ALU64 | BPF_ADD | BPF_K:
		dst->delta += (s64)insn->imm;
		break;
	case BPF_ALU64 | BPF_SUB | BPF_K:
		dst->delta -= (s64)insn->imm;
		break;
	case BPF_ALU64 | BPF_ADD | BPF_X:
		add_register(p, dst, &p->regs[insn->src_reg]);
		break;
	default:
		set_new(p, dst);
	}
}

/* Notes the registers that an instruction other than a jump changes. */
static void plan_registers(struct cosy_pieces *p, const struct bpf_insn *insn)
{
	u32 reg;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
		set_new(p, &p->regs[insn->dst_reg]);
		break;
	case BPF_ALU64:
		plan_arithmetic(p, insn);
		break;
	case BPF_LD:
		set_constant(p, insn->dst_reg, (u32)insn[0].imm | (u64)(u32)insn[1].imm << 32);
		break;
	case BPF_LDX:
		set_new(p, &p->regs[insn->dst_reg]);
		break;
	case BPF_STX:
		for (reg = 0; BPF_MODE(insn->code) == BPF_ATOMIC && reg < 10; reg++)
			set_new(p, &p->regs[reg]);
		break;
	}
}

/* --- Groups ------------------------------------------------------------------------ */

static bool is_near(s64 distance)
{
	return distance >= -COSY_REACH && distance <= COSY_REACH;
}

/* Takes [low, high) into the group's span; false: it would get too long. */
static bool widen_group(struct group *group, s64 low, s64 high)
{
	if (low > group->low)
		low = group->low;
	if (high < group->high)
		high = group->high;
	if (high - low > COSY_REACH)
		return false;
	group->low = low;
	group->high = high;
	return true;
}

/*
 * Takes in the byte that the register itself points to: accesses above it can then count from the
 * register, by their own offsets.
 */
static void widen_group_to_base(struct group *group, s64 at, s16 off)
{
	if (off > 0)
		widen_group(group, at - off, at);
}

static void plan_access(struct cosy_pieces *p, const struct bpf_insn *insn, u32 at)
{
	u8 base = BPF_CLASS(insn->code) == BPF_LDX ? insn->src_reg : insn->dst_reg;
	struct access *access = &p->accesses[at - p->start];
	u64 place = p->regs[base].delta + insn->off;
	struct group *group;
	u32 i;

	if (!is_near(insn->off))
		return;
	for (i = 0; i < p->group_cnt; i++) {
		s64 distance;

		group = &p->groups[i];
		distance = place - group->place;
		if (group->value != p->regs[base].value || !is_near(distance) ||
		    !widen_group(group, distance, distance + cosy_access_size(insn)))
			continue;
		widen_group_to_base(group, distance, insn->off);
		group->last = at;
		group->followers++;
		*access = (struct access){i + 1, distance};
		return;
	}
	if (p->group_cnt == MAX_GROUPS)
		return;
	group = &p->groups[p->group_cnt++];
	*group = (struct group){.value = p->regs[base].value,
				.first = at,
				.last = at,
				.place = place,
				.high = cosy_access_size(insn)};
	widen_group_to_base(group, 0, insn->off);
	*access = (struct access){p->group_cnt, 0};
}

/* --- Joins ------------------------------------------------------------------------- */

static struct join *find_join(struct cosy_pieces *p, u32 at)
{
	u32 i;

	for (i = 0; i < MAX_JOINS; i++) {
		if (p->joins[i].at == at)
			return &p->joins[i];
	}
	return NULL;
}

/* Keeps in `a` what is the same in `b`. */
static void meet_registers(struct cosy_pieces *p, struct known *a, const struct known *b)
{
	u32 reg;

	for (reg = 0; reg < 10; reg++) {
		if (a[reg].value != b[reg].value || a[reg].delta != b[reg].delta)
			set_new(p, &a[reg]);
	}
}

/* Notes a jump forward.  Without room to remember it the piece will end at its target. */
static void plan_jump(struct cosy_pieces *p, u32 at, u32 target)
{
	struct join *join = find_join(p, target);

	if (join) {
		join->seen++;
		meet_registers(p, join->regs, p->regs);
		return;
	}
	join = find_join(p, 0);
	if (!join)
		return;
	join->at = target;
	join->from = at;
	join->seen = 1;
	memcpy(join->regs, p->regs, sizeof(join->regs));
}

/*
 * Brings together what is known at a place that jumps lead to; `dead`: nothing else leads there.
 * Stores the first of the jumps.  False: some may be from elsewhere.
 */
static bool plan_join(struct cosy_pieces *p, u32 at, bool dead, u32 *from)
{
	struct join *join = find_join(p, at);

	if (!join || join->seen != (p->shapes[at] & MAX_JUMPS) || join->seen == MAX_JUMPS)
		return false;
	if (dead)
		memcpy(p->regs, join->regs, sizeof(p->regs));
	else
		meet_registers(p, p->regs, join->regs);
	*from = join->from;
	join->at = 0;
	return true;
}

/*
 * A leader after the first of the jumps to a place may have been jumped over, so no access relies
 * on it from there on.
 */
static bool plan_target(struct cosy_pieces *p, u32 at, bool dead)
{
	u32 i, from;

	if (!plan_join(p, at, dead, &from))
		return false;
	for (i = 0; i < p->group_cnt; i++) {
		if (p->groups[i].first > from)
			p->groups[i].value = NO_VALUE;
	}
	return true;
}

/* --- Pieces ------------------------------------------------------------------------ */

/* Plans one instruction; false: it ends the piece, and is part of it. */
static bool plan_insn(struct cosy_rewrite *w, u32 at, bool *dead)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	struct cosy_pieces *p = w->pieces;
	u32 target;

	if (w->program->marks[at] & COSY_MARK_LEAVE && p->shapes[at] & IN_LOOP &&
	    BPF_MODE(insn->code) != BPF_ATOMIC)
		plan_access(p, insn, at);
	if (BPF_CLASS(insn->code) != BPF_JMP && BPF_CLASS(insn->code) != BPF_JMP32) {
		plan_registers(p, insn);
		return true;
	}
	if (!cosy_insn_jumps(insn))
		return false;
	target = cosy_jump_target(insn, at);
	*dead = BPF_OP(insn->code) == BPF_JA;
	/* An edge back leads out of the piece, or to its first instruction, where all is new. */
	if (target > at)
		plan_jump(p, at, target);
	return true;
}

static u32 plan_piece(struct cosy_rewrite *w, u32 start)
{
	const u32 entries = COSY_MARK_RESUME | COSY_MARK_FUNCTION;
	struct cosy_pieces *p = w->pieces;
	bool dead = false;
	u32 at;

	for (at = start; at < w->program->insn_cnt && at - start < MAX_PIECE; at++) {
		u8 marks = w->program->marks[at];

		p->accesses[at - start].group = 0;
		if (!(marks & COSY_MARK_HEAD))
			continue;
		if (at > start && marks & entries)
			break;
		if (at > start && marks & COSY_MARK_TARGET) {
			if (!plan_target(p, at, dead))
				break;
			dead = false;
		}
		if (dead)
			break;
		if (!plan_insn(w, at, &dead))
			return at + 1;
	}
	return at;
}

/*
 * Chooses the register for the offsets of a piece: AX, or where the JIT takes no AX one that the
 * program does not need from the first leader to the last follower.
 */
static u8 choose_keeper(const struct cosy_rewrite *w, u32 first, u32 end)
{
	u32 at, used = 0;

	if (!w->live)
		return COSY_AX;
	for (at = first; at < end; at++)
		used |= cosy_registers_used(w->program, w->live, at);
	return cosy_register_unused(w, used);
}

/* Adds a slow copy from the first leader to the last follower, if there is any. */
static void add_slow(struct cosy_rewrite *w)
{
	struct cosy_pieces *p = w->pieces;
	u32 i, first = ~0u, end = 0;

	for (i = 0; i < p->group_cnt; i++) {
		const struct group *group = &p->groups[i];

		if (!group->followers)
			continue;
		p->shapes[group->first] |= LEADS;
		if (group->first < first)
			first = group->first;
		if (group->last >= end)
			end = group->last + 1;
	}
	w->code.keeper = COSY_AX;
	if (!end)
		return;
	w->code.keeper = choose_keeper(w, first, end);
	p->slows[p->slow_cnt++] =
		(struct cosy_slow){first, end, cosy_emit_labels(&w->code, end - first)};
}

void cosy_piece_enter(struct cosy_rewrite *w, u32 at)
{
	struct cosy_pieces *p = w->pieces;
	u32 reg, i;

	if (!p || at < p->end)
		return;
	p->start = at;
	p->group_cnt = p->sum_cnt = 0;
	p->value_cnt = CONSTANT + 1;
	for (i = 0; i < MAX_JOINS; i++)
		p->joins[i].at = p->ax_joins[i].at = 0;
	p->dead = false;
	for (reg = 0; reg < 10; reg++)
		set_new(p, &p->regs[reg]);
	w->ax.group = 0;
	p->end = plan_piece(w, at);
	add_slow(w);
}

bool cosy_piece_find(const struct cosy_rewrite *w, u32 at, struct cosy_near *ret)
{
	const struct cosy_pieces *p = w->pieces;
	const struct cosy_slow *slow;
	const struct access *access;
	const struct group *group;

	if (!p || w->slow)
		return false;
	access = &p->accesses[at - p->start];
	if (!access->group)
		return false;
	group = &p->groups[access->group - 1];
	if (!group->followers)
		return false;
	slow = &p->slows[p->slow_cnt - 1];
	*ret = (struct cosy_near){.group = access->group,
				  .leads = at == group->first,
				  .at = access->at,
				  .low = group->low,
				  .high = group->high,
				  .slow = slow->labels + (at - slow->first)};
	return true;
}

/* --- The keeper through joins -------------------------------------------------------------- */

static struct ax_join *find_ax_join(struct cosy_pieces *p, u32 at)
{
	u32 i;

	for (i = 0; i < MAX_JOINS; i++) {
		if (p->ax_joins[i].at == at)
			return &p->ax_joins[i];
	}
	return NULL;
}

static bool ax_is_known(const struct cosy_rewrite *w, const struct cosy_ax *ax)
{
	return ax->group && ax->turn == w->code.turn;
}

void cosy_ax_keep(struct cosy_rewrite *w, u32 turn)
{
	if (w->ax.turn == turn)
		w->ax.turn = w->code.turn;
}

void cosy_piece_jump(struct cosy_rewrite *w, u32 at)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	struct cosy_pieces *p = w->pieces;
	struct ax_join *join;
	u32 target;

	if (!p || w->slow || !cosy_insn_jumps(insn))
		return;
	target = cosy_jump_target(insn, at);
	p->dead = BPF_OP(insn->code) == BPF_JA;
	if (target <= at || target >= p->end)
		return;
	join = find_ax_join(p, target);
	if (join) {
		join->seen++;
		if (!ax_is_known(w, &w->ax) || join->ax.group != w->ax.group ||
		    join->ax.at != w->ax.at)
			join->ax.group = 0;
		return;
	}
	join = find_ax_join(p, 0);
	if (join)
		*join = (struct ax_join){target, 1, w->ax};
	if (join && !ax_is_known(w, &w->ax))
		join->ax.group = 0;
}

void cosy_piece_bind(struct cosy_rewrite *w, u32 at)
{
	struct cosy_pieces *p = w->pieces;
	struct ax_join *join = p && at ? find_ax_join(p, at) : NULL;
	bool holds = join && join->ax.group && join->seen == (p->shapes[at] & MAX_JUMPS);

	if (holds && !p->dead)
		holds = ax_is_known(w, &w->ax) && w->ax.group == join->ax.group &&
			w->ax.at == join->ax.at;
	cosy_emit_bind(&w->code, at);
	if (holds) {
		w->ax = join->ax;
		w->ax.turn = w->code.turn;
	}
	if (join)
		join->at = 0;
	if (p)
		p->dead = false;
}

const struct cosy_slow *cosy_piece_slow(const struct cosy_rewrite *w, u32 index)
{
	return w->pieces && index < w->pieces->slow_cnt ? &w->pieces->slows[index] : NULL;
}

bool cosy_piece_leads(const struct cosy_rewrite *w, u32 at)
{
	return w->pieces->shapes[at] & LEADS;
}

/* --- Values in a slow copy, when all pieces are planned ------------------------------------ */

void cosy_values_forget(struct cosy_rewrite *w)
{
	struct cosy_pieces *p = w->pieces;
	u32 reg;

	for (reg = 0; reg < 10; reg++)
		set_new(p, &p->regs[reg]);
}

void cosy_values_begin(struct cosy_rewrite *w)
{
	u32 i;

	cosy_values_forget(w);
	for (i = 0; i < MAX_JOINS; i++)
		w->pieces->joins[i].at = 0;
}

void cosy_values_follow(struct cosy_rewrite *w, u32 at, u32 end)
{
	const struct bpf_insn *insn = &w->program->insns[at];
	u32 target;

	plan_registers(w->pieces, insn);
	if (!cosy_insn_jumps(insn))
		return;
	target = cosy_jump_target(insn, at);
	if (target > at && target < end)
		plan_jump(w->pieces, at, target);
}

bool cosy_values_join(struct cosy_rewrite *w, u32 at, bool dead, u32 *from)
{
	return at && plan_join(w->pieces, at, dead, from);
}

struct cosy_register_value cosy_value_of(const struct cosy_rewrite *w, u8 reg)
{
	const struct known *known = &w->pieces->regs[reg];

	return (struct cosy_register_value){known->value, known->delta};
}
