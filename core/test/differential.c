// SPDX-License-Identifier: GPL-2.0 OR MIT
/* differential.c - the oracle: rewritten code does what the program does. */
#include "differential.h"
#include "insn.h"
#include "reference.h"

/*
 * Maximum number of resume points at which the reference continues before it hands back, and of
 * runs before nothing leaves at will any more.
 */
enum { MAX_LEAVE_AFTER = 3, MAX_RUNS = 4096 };

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[] = {
		[RUN_DONE] = "done",	       [RUN_FAULT] = "fault", [RUN_TRAP] = "trap",
		[RUN_STACK] = "stack full",    [RUN_LIMIT] = "limit", [RUN_LEFT] = "left",
		[RUN_VIOLATION] = "violation", [RUN_ON] = "on",
	};

	return names[outcome];
}

__printf(2, 3) static bool problem(struct differential *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(d->problem, sizeof(d->problem), format, args);
	va_end(args);
	return false;
}

/* Runs rewritten code, which goes on after every leave, every other time by the reference. */
static enum outcome run_rewritten(struct differential *d, struct checker *c, u32 *at)
{
	enum outcome outcome;

	for (d->runs = 1;; d->runs++) {
		bool by_reference = d->runs % 2 == 0;

		if (d->runs > MAX_RUNS)
			c->leave_every = c->fault_every = 0;
		outcome = checker_run(c);
		*at = c->at;
		if (outcome != RUN_LEFT)
			return outcome;
		if (!(c->program->marks[*at] & COSY_MARK_RESUME) || by_reference) {
			outcome = reference_run(c->program, c->world, &c->entry.state, at, c->limit,
						1 + d->runs % MAX_LEAVE_AFTER);
			if (outcome != RUN_LEFT)
				return outcome;
		}
		c->entry.resume = *at + 1;
	}
}

/* --- Registers that matter ------------------------------------------------------------ */

/* Returns whether an instruction reads a register, as little as it may. */
static bool insn_reads(const struct bpf_insn *insn, u32 reg)
{
	u8 class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
	bool takes_src = BPF_SRC(insn->code) == BPF_X;
	u32 args;

	switch (class) {
	case BPF_LD:
		return false;
	case BPF_LDX:
		return reg == insn->src_reg;
	case BPF_ST:
		return reg == insn->dst_reg;
	case BPF_STX:
		return reg == insn->dst_reg || reg == insn->src_reg ||
		       (reg == 0 && BPF_MODE(insn->code) == BPF_ATOMIC && insn->imm == BPF_CMPXCHG);
	case BPF_JMP:
	case BPF_JMP32:
		if (op == BPF_JA)
			return false;
		if (op == BPF_EXIT)
			return reg == 0;
		if (op != BPF_CALL)
			return reg == insn->dst_reg || (takes_src && reg == insn->src_reg);
		if (insn->src_reg == BPF_PSEUDO_CALL)
			return true;
		args = strlen(cosy_call_find(insn->imm)->args);
		return reg ? reg <= args && reg <= 5 : args == 6;
	default:
		if (op == BPF_END || op == BPF_NEG)
			return reg == insn->dst_reg;
		return (op != BPF_MOV && reg == insn->dst_reg) ||
		       (takes_src && reg == insn->src_reg);
	}
}

static bool insn_overwrites(const struct bpf_insn *insn, u32 reg)
{
	u8 class = BPF_CLASS(insn->code);

	if (class == BPF_JMP || class == BPF_JMP32)
		return BPF_OP(insn->code) == BPF_CALL && reg <= 5;
	return class != BPF_ST && class != BPF_STX && reg == insn->dst_reg;
}

/* Goes along each way, up to where the register is overwritten. */
bool differential_reads_later(const struct cosy_validated *program, u32 at, u32 reg)
{
	u8 *seen = calloc(1, program->insn_cnt);
	u32 *todo = malloc(program->insn_cnt * sizeof(*todo)), count = 0;
	bool read = false;

	if (!seen || !todo)
		abort();
	todo[count++] = at;
	seen[at] = 1;
	while (count && !read) {
		const struct bpf_insn *insn = &program->insns[at = todo[--count]];
		bool wide = insn->code == (BPF_LD | BPF_IMM | BPF_DW);
		s64 next[2] = {at + 1 + wide, -1};
		u32 i;

		read = insn_reads(insn, reg);
		if (read || insn_overwrites(insn, reg) || insn->code == (BPF_JMP | BPF_EXIT))
			continue;
		if (cosy_insn_jumps(insn))
			next[BPF_OP(insn->code) != BPF_JA] = cosy_jump_target(insn, at);
		for (i = 0; i < 2; i++) {
			if (next[i] >= 0 && !seen[next[i]]) {
				seen[next[i]] = 1;
				todo[count++] = next[i];
			}
		}
	}
	free(seen);
	free(todo);
	return read;
}

/* Compares two states of which a program goes on at instruction `at`. */
static bool compare(struct differential *d, const struct cosy_validated *program, u32 at,
		    const struct cosy_state *expected, const struct cosy_state *got)
{
	const u32 words = checker_frame_words(program);
	u32 i;

	if (expected->steps != got->steps)
		return problem(d, "%llu steps instead of %llu", got->steps, expected->steps);
	for (i = 0; i < 10; i++) {
		if (expected->reg[i] != got->reg[i] && differential_reads_later(program, at, i))
			return problem(d, "r%u is 0x%llx instead of 0x%llx", i, got->reg[i],
				       expected->reg[i]);
	}
	if (expected->sp != got->sp || expected->fp != got->fp)
		return problem(d, "the software stack stands elsewhere");
	for (i = 1; i <= words; i++) {
		if (expected->frame[COSY_FRAME_SIZE / 8 - i] != got->frame[COSY_FRAME_SIZE / 8 - i])
			return problem(d, "r10-%u is 0x%llx instead of 0x%llx", 8 * i,
				       got->frame[COSY_FRAME_SIZE / 8 - i],
				       expected->frame[COSY_FRAME_SIZE / 8 - i]);
	}
	return true;
}

/* --- A state that no run ever left ------------------------------------------------ */

static u64 hostile_value(const struct differential *d, u64 noise)
{
	switch (noise >> 60) {
	case 0 ... 3:
		return d->how.user_base + (noise & 0xfff);
	case 4 ... 6:
		return WORLD_HEAP_BASE + (noise & 0xfff);
	case 7:
		return WORLD_STACK_BASE + (noise & 0x7ff);
	case 8 ... 9:
		return noise & 0xff;
	case 10:
		return d->how.user_base + d->how.size - (noise & 15);
	case 11:
		return 0xffff888000000000ull + (noise & 0xffff);
	default:
		return noise;
	}
}

/* Puts frames at every other place on the stack, some of which return somewhere. */
static void hostile_stack(const struct cosy_validated *program, struct world *world, u64 noise)
{
	u8 *bytes = world->area[WORLD_STACK].bytes;
	u32 at, offset;

	for (offset = 0; offset + 128 <= WORLD_STACK_SIZE; offset += 128) {
		struct cosy_frame *frame = (void *)(bytes + offset);

		noise = world_mix(noise, offset);
		frame->fp = noise & 1 ? offset - 128 : noise & 2 ? offset : ~0ull;
		for (at = noise % program->insn_cnt; at < program->insn_cnt; at++) {
			if (program->insns[at].code == (BPF_JMP | BPF_CALL) &&
			    program->insns[at].src_reg == BPF_PSEUDO_CALL)
				break;
		}
		frame->call = at;
	}
}

u32 differential_hostile(const struct differential *d, const struct cosy_validated *program,
			 struct cosy_state *state, struct world *world)
{
	u32 i, at = 0, skip;

	if (!program->resume_cnt)
		return 0;
	hostile_stack(program, world, d->seed);
	for (i = 0; i < 10; i++)
		state->reg[i] = hostile_value(d, world_mix(d->seed, 100 + i));
	for (i = 0; i < COSY_FRAME_SIZE / 8; i++)
		state->frame[i] = hostile_value(d, world_mix(d->seed, 200 + i));
	state->sp = world_mix(d->seed, 1) % (WORLD_STACK_SIZE / 16) * 16;
	state->fp = world_mix(d->seed, 2) % (WORLD_STACK_SIZE / 128) * 128;
	skip = world_mix(d->seed, 3) % program->resume_cnt;
	for (at = 0;; at++) {
		if (program->marks[at] & COSY_MARK_RESUME && !skip--)
			return at + 1;
	}
}

static bool run_both(struct differential *d, const struct cosy_validated *program,
		     const struct cosy_code *code, struct world worlds[2])
{
	struct checker c = {
		.program = program,
		.code = code,
		.how = &d->how,
		.world = &worlds[1],
		.limit = d->limit,
		.chance = d->seed,
		.leave_every = d->leave_every,
		.fault_every = d->fault_every,
		.max_grant = d->max_grant ? d->max_grant : 1,
		.starved = d->starved,
	};
	struct cosy_state state;
	enum outcome expected, got;
	u32 at = 0, got_at = 0;
	const char *difference;

	reference_start(&state, &worlds[0]);
	reference_start(&c.entry.state, &worlds[1]);
	if (d->hostile) {
		differential_hostile(d, program, &state, &worlds[0]);
		c.entry.resume = differential_hostile(d, program, &c.entry.state, &worlds[1]);
		at = c.entry.resume ? c.entry.resume - 1 : 0;
	}
	expected = reference_run(program, &worlds[0], &state, &at, d->limit, 0);
	got = run_rewritten(d, &c, &got_at);

	d->outcome = expected;
	d->result = state.reg[0];
	d->steps = state.steps;
	d->fast = c.fast;
	d->slow = c.slow;
	d->executed = c.executed;
	if (got == RUN_VIOLATION)
		return problem(d, "%s", c.violation);
	if (expected != got)
		return problem(d, "ends with %s instead of %s", outcome_name(got),
			       outcome_name(expected));
	if (expected != RUN_DONE && at != got_at)
		return problem(d, "ends at instruction %u instead of %u", got_at, at);
	if (!compare(d, program, at, &state, &c.entry.state))
		return false;
	difference = world_difference(&worlds[0], &worlds[1]);
	return difference ? problem(d, "%s differ", difference) : true;
}

/* Returns whether the frame is as large as the program needs, or its fetches, and no larger. */
static bool has_right_frame(const struct cosy_validated *program, const struct cosy_code *code)
{
	u32 i;

	for (i = 0; i < code->insn_cnt; i++) {
		s32 thunk = code->insns[i].imm - CHECKER_THUNK_BASE;

		if (code->insns[i].code == (BPF_JMP | BPF_CALL) && thunk >= COSY_THUNK_FETCH &&
		    thunk <= COSY_THUNK_FETCH_LAST)
			return code->stack_size == (u32)-COSY_FETCH_PLACE;
	}
	return code->stack_size == COSY_SLOT_SIZE + 8 * checker_frame_words(program);
}

bool differential_run(struct differential *d, const struct cosy_validated *program)
{
	struct cosy_reject why = {0};
	struct cosy_code code;
	struct cosy_sandbox given;
	struct world worlds[2];
	const char *lint;
	bool fine;
	u32 i;

	d->problem[0] = 0;
	d->how.thunks = checker_thunks;
	/* The kernel's address is one that no constant of the program can be meant to be. */
	d->how.kernel_base = 0xffffc90000000000ull | (world_mix(d->seed, 1) & 0xffffffff000ull);
	given = d->how;
	/* Addresses that the code must not hold are not told to the sandbox. */
	if (given.based)
		given.user_base = given.kernel_base = 0;
	if (cosy_sandbox(program, &given, &code, &why)) {
		if (!why.reason[0])
			return problem(d, "not sandboxed, without a reason");
		return problem(d, "not sandboxed: %s", why.reason);
	}
	d->rewritten = code.insn_cnt;
	if (!has_right_frame(program, &code)) {
		core_free(code.insns);
		return problem(d, "a frame of %u bytes", code.stack_size);
	}
	lint = checker_lint(&code, &d->how);
	if (!lint && d->how.blind)
		lint = checker_lint_blind(program, &d->how);
	if (lint) {
		core_free(code.insns);
		return problem(d, "code for the JIT: %s", lint);
	}
	for (i = 0; i < 2; i++)
		world_init(&worlds[i], d->how.user_base, d->how.size, d->seed);
	fine = run_both(d, program, &code, worlds);
	for (i = 0; i < 2; i++)
		world_deinit(&worlds[i]);
	core_free(code.insns);
	return fine;
}
