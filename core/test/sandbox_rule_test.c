// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox_rule_test.c - rules of the sandbox that no result depends on, or only that of a program
 * made for it: constants that stay hidden, branches of each kind, and what happens when a caller
 * breaks its word.
 */
#include "alu.h"
#include "ways.h"

/* --- Constants that stay hidden ----------------------------------------------------------- */

static bool has_immediate(const struct cosy_code *code, s32 value)
{
	u32 at;

	for (at = 0; at < code->insn_cnt; at++) {
		if (code->insns[at].imm == value)
			return true;
	}
	return false;
}

static struct cosy_code sandboxed(const struct cosy_validated *program,
				  const struct cosy_sandbox *how)
{
	struct cosy_code code;

	MUST(!cosy_sandbox(program, how, &code, NULL));
	return code;
}

/* Returns whether an immediate is the value whatever the seed is. */
static bool always_has(const struct cosy_validated *program, struct cosy_sandbox how, s32 value)
{
	bool ret = true;

	for (how.seed = 1; how.seed <= 3; how.seed++) {
		struct cosy_code code = sandboxed(program, &how);

		ret = ret && has_immediate(&code, value);
		core_free(code.insns);
	}
	return ret;
}

/* Checks that blinding hides a value from the code, which has it otherwise. */
static void check_hidden(const struct bpf_insn *insns, u32 count, s32 value)
{
	struct cosy_validated program = validated(insns, count);
	bool shown = false;
	u32 way;

	for (way = 0; way < 32; way++) {
		struct cosy_sandbox how = setting(way & 1 ? LOW : HIGH).how;

		how.thunks = checker_thunks;
		how.kernel_base = 0xffffc90000000000;
		how.size = way & 2 ? 4096 : 0;
		how.based = way & 4;
		how.copies_ax = way & 16;
		how.has_v4 = how.based || way & 8;
		shown |= always_has(&program, how, value);
		how.blind = true;
		CHECK(!always_has(&program, how, value));
	}
	CHECK(shown);
	cosy_validated_deinit(&program);
}

#define HIDDEN(value, ...)                                                                         \
	do {                                                                                       \
		struct bpf_insn insns_[] = {__VA_ARGS__, EXIT()};                                  \
                                                                                                   \
		check_hidden(insns_, COUNT(insns_), value);                                        \
	} while (0)

static void constants_stay_hidden(void)
{
	HIDDEN(0x12345, MOV_K(2, 0x12345));
	HIDDEN(0x12345, ALU32_K(BPF_XOR, 2, 0x12345));
	HIDDEN(0x12345, IMM64(2, 0x6789a00012345));
	HIDDEN(0x6789a, IMM64(2, 0x6789a00012345));
	HIDDEN(-0x12345, IMM64(2, -0x12345ll));
	HIDDEN(0x12345, ALU64_K(BPF_DIV, 2, 0x12345));
	HIDDEN(0x12345, ALU32_K(BPF_MOD, 2, 0x12345));
	HIDDEN(0x12345, INSN(BPF_ALU64 | BPF_DIV | BPF_K, 2, 0, 1, 0x12345));
	HIDDEN(0x12345, INSN(BPF_ALU | BPF_MOD | BPF_K, 2, 0, 1, 0x12345));
	HIDDEN(0x12345, JUMP_K(BPF_JEQ, 1, 0x12345, 0));
	HIDDEN(0x12345, JUMP32_K(BPF_JSET, 1, 0x12345, -1));
	HIDDEN(0x12345, STORE_K(BPF_DW, 10, -8, 0x12345));
	HIDDEN(0x12345, STORE_K(BPF_W, 1, 0, 0x12345));
	/* Offsets, of accesses that share a test as well. */
	HIDDEN(0x7abc, LOAD(BPF_DW, 2, 1, 0x7abc));
	HIDDEN(-0x7abc, STORE(BPF_B, 1, -0x7abc, 2));
	HIDDEN(0x7abc, STORE_K(BPF_H, 1, 0x7abc, 3));
	HIDDEN(0x7abc, ATOMIC(BPF_DW, BPF_ADD, 1, 0x7abc, 2));
	HIDDEN(-0x3a5, MOV_X(6, 1), LOAD(BPF_B, 2, 6, -0x3a5), LOAD(BPF_B, 3, 6, -0x3a4),
	       JUMP_K(BPF_JEQ, 2, 0, -3));
	/* Numbers of instructions and calls, which a long program can choose. */
	HIDDEN(2 << 16 | COSY_NR_getpid, MOV_K(2, 0), MOV_K(3, 0), CALL(COSY_NR_getpid));
	HIDDEN(1 << 16 | 2 << 8 | 3, STORE(BPF_B, 10, -16, 1), CALL_LOCAL(1), EXIT(),
	       STORE(BPF_B, 10, -24, 1));
	HIDDEN(1 << 16 | 0x100 | BPF_OR, MOV_K(2, 0), ATOMIC(BPF_DW, BPF_OR, 1, 0, 2));
}

/* A mask that two constants shared would tell the difference of both. */
static void each_constant_has_its_mask(void)
{
	struct bpf_insn insns[] = {MOV_K(2, 1), MOV_K(3, 2), MOV_K(4, 3), EXIT()};
	struct cosy_validated program = validated(insns, COUNT(insns));
	struct cosy_sandbox how = {.blind = true, .seed = 1, .thunks = checker_thunks};
	struct cosy_code code = sandboxed(&program, &how);
	u32 at, count = 0;
	s32 masks[3] = {0};

	for (at = 0; at < code.insn_cnt; at++) {
		if (code.insns[at].code == (BPF_ALU64 | BPF_XOR | BPF_K) && count < 3)
			masks[count++] = code.insns[at].imm;
	}
	CHECK_EQ(count, 3);
	CHECK(masks[0] != masks[1] && masks[1] != masks[2] && masks[0] != masks[2]);
	core_free(code.insns);
	cosy_validated_deinit(&program);
}

/* Of the two numbers that a hidden offset is the sum of, neither is cut to 32 bits. */
static void hidden_offsets_add_up(void)
{
	static const s16 values[] = {-0x8000, -1, 1, 0x7fff};
	struct cosy_emit e = {.blind = true};
	u32 seed;

	for (seed = 0; seed < 1 << 18; seed++) {
		s16 value = values[seed % 4];

		e.random = seed;
		e.insn_cnt = 0;
		cosy_emit_add_secret(&e, COSY_AX, value);
		if (e.insn_cnt != 2 || (s64)e.insns[0].imm + e.insns[1].imm != value)
			break;
	}
	CHECK_EQ(seed, 1 << 18);
	cosy_emit_deinit(&e);
}

/* --- Branches ------------------------------------------------------------------------------ */

static const u8 branch_ops[] = {BPF_JEQ,  BPF_JNE,  BPF_JGT,  BPF_JGE,	BPF_JLT, BPF_JLE,
				BPF_JSET, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE};
static const s32 branch_values[][2] = {{1, 1}, {1, 2}, {2, 1}, {-1, 1}, {1, -1}, {-5, -5}};

/*
 * Appends a branch forward and an edge back of each kind, taken and not; r0 tells of all of them.
 * Returns how many instructions.
 */
static u32 append_branches(struct bpf_insn *insns)
{
	static const u8 classes[] = {BPF_JMP | BPF_K, BPF_JMP | BPF_X, BPF_JMP32 | BPF_K,
				     BPF_JMP32 | BPF_X};
	u32 at = 0, op, pair, class;

	for (op = 0; op < COUNT(branch_ops); op++) {
		for (pair = 0; pair < COUNT(branch_values); pair++) {
			for (class = 0; class < COUNT(classes); class ++) {
				const s32 *values = branch_values[pair];
				u8 code = branch_ops[op] | classes[class];
				bool is_k = BPF_SRC(code) == BPF_K;
				struct bpf_insn branch =
					INSN(code, 2, is_k ? 0 : 3, 1, is_k ? values[1] : 0);

				insns[at++] = MOV_K(2, values[0]);
				insns[at++] = MOV_K(3, values[1]);
				insns[at++] = ALU64_K(BPF_MUL, 0, 3);
				insns[at++] = branch;
				insns[at++] = ALU64_K(BPF_ADD, 0, 1);
				/* As long as it is taken, with a larger r2, but a few times at most. */
				insns[at++] = ALU64_K(BPF_ADD, 0, 7);
				insns[at++] = ALU64_K(BPF_ADD, 2, 1);
				insns[at++] = JUMP_K(BPF_JSGT, 2, 3, 1);
				branch.off = -4;
				insns[at++] = branch;
			}
		}
	}
	return at;
}

static void branches_of_each_kind_work(void)
{
	static struct bpf_insn insns[4096];
	u32 count = append_branches(insns), way;

	insns[count++] = EXIT();
	for (way = 0; way < 4; way++) {
		struct differential d = setting(LOW);

		d.how.blind = way & 1;
		d.how.has_v4 = d.how.has_gotol = way & 2;
		d.limit = 100000;
		run(&d, insns, count);
		CHECK_EQ(d.outcome, RUN_DONE);
	}
}

/* The same where a program is so long that most jumps are of 32 bits. */
static void far_branches_of_each_kind_work(void)
{
	struct bpf_insn *insns = calloc(COSY_MAX_INSNS, sizeof(*insns));
	struct differential d = setting(LOW);
	u32 count;

	MUST(insns);
	d.limit = 100000;
	count = append_branches(insns);
	while (count < COSY_MAX_INSNS - 1)
		insns[count++] = LOAD(BPF_DW, 2, 1, 8);
	insns[count++] = EXIT();
	run(&d, insns, count);
	CHECK_EQ(d.outcome, RUN_DONE);
	CHECK(d.rewritten > 100000);
	free(insns);
}

static void loops_of_one_instruction_spend_fuel(void)
{
	ALL_WAYS(RUN_LIMIT, 0, JUMP_K(BPF_JNE, 1, 0, -1), EXIT());
	ALL_WAYS(RUN_LIMIT, 0, JUMP_X(BPF_JEQ, 1, 1, -1), EXIT());
	ALL_WAYS(RUN_LIMIT, 0, INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, -1));
}

/* --- Calls and returns --------------------------------------------------------------------- */

static bool calls_thunk(const struct cosy_validated *program, bool ordinary, enum cosy_thunk thunk)
{
	struct cosy_sandbox how = {.ordinary = ordinary, .thunks = checker_thunks};
	struct cosy_code code = sandboxed(program, &how);
	bool ret = false;
	u32 at;

	for (at = 0; at < code.insn_cnt; at++) {
		ret |= code.insns[at].code == (BPF_JMP | BPF_CALL) &&
		       code.insns[at].imm == checker_thunks[thunk];
	}
	core_free(code.insns);
	return ret;
}

static void ordinary_calls_take_no_other_way(void)
{
	struct bpf_insn insns[] = {CALL(COSY_NR_read), CALL(COSY_OP_ctx), EXIT()};
	struct cosy_validated program = validated(insns, COUNT(insns));

	CHECK(calls_thunk(&program, false, COSY_THUNK_CALL_read));
	CHECK(!calls_thunk(&program, false, COSY_THUNK_SYSCALL));
	CHECK(!calls_thunk(&program, true, COSY_THUNK_CALL_read));
	CHECK(calls_thunk(&program, true, COSY_THUNK_SYSCALL));
	CHECK(calls_thunk(&program, true, COSY_THUNK_OP_ctx));
	cosy_validated_deinit(&program);
}

static void returns_zero_what_callees_had(void)
{
	ALL_WAYS(RUN_DONE, 0, CALL_LOCAL(5), MOV_X(0, 1), ALU64_X(BPF_OR, 0, 2),
		 ALU64_X(BPF_OR, 0, 5), ALU64_X(BPF_OR, 0, 4), EXIT(),
		 /* 6 */ MOV_K(1, 7), MOV_K(2, 7), MOV_K(3, 7), MOV_K(4, 7), MOV_K(5, 7), EXIT());
}

/*
 * A program whose first instruction is the trap, by which it ends where nothing else may be: the
 * checker wants each thunk to name its instruction.
 */
static const struct bpf_insn trapping[] = {
	/* 0 */ CALL(COSY_OP_trap), MOV_X(0, 1),	  MOV_K(0, 0),
	/* 3 */ CALL_LOCAL(2),	    CALL(COSY_NR_getpid), EXIT(),
	/* 6 */ MOV_K(0, 1),	    MOV_K(0, 2),	  EXIT(),
};

/* Starts it where nobody has checked that it may resume, or returns to there. */
static enum outcome run_astray(u64 resume, const u64 *popped)
{
	struct cosy_validated program = validated(trapping, COUNT(trapping));
	struct differential d = setting(LOW);
	struct cosy_code code;
	struct world world;
	struct checker c = {.program = &program,
			    .code = &code,
			    .how = &d.how,
			    .world = &world,
			    .limit = 1000,
			    .max_grant = 100,
			    .popped = popped};
	enum outcome outcome;

	d.how.thunks = checker_thunks;
	code = sandboxed(&program, &d.how);
	world_init(&world, LOW, 4096, 1);
	c.entry.resume = resume;
	c.entry.state.fp = ~0ull;
	outcome = checker_run(&c);
	if (outcome == RUN_VIOLATION)
		fprintf(stderr, "resume %llu: %s\n", (unsigned long long)resume, c.violation);
	CHECK(outcome != RUN_TRAP || c.at == 0);
	world_deinit(&world);
	core_free(code.insns);
	cosy_validated_deinit(&program);
	return outcome;
}

static void what_is_no_resume_point_traps(void)
{
	/* The first of them, a call and no resume point + 1, is where a return may lead. */
	static const u64 others[] = {3, 7, 8, 10, 100, 1ull << 32, ~0ull};
	u32 i;

	for (i = 0; i < COUNT(others); i++)
		CHECK_EQ(run_astray(others[i], NULL), RUN_TRAP);
	CHECK_EQ(run_astray(4, NULL), RUN_DONE);
}

static void what_is_no_call_site_traps(void)
{
	static const u64 calls[] = {0, 1, 2, 4, 5, 6, 8, 100, 1ull << 32, ~0ull};
	u64 right = 3;
	u32 i;

	/* Resumes at the call; what the callee's exit pops is the number that is tried. */
	for (i = 0; i < COUNT(calls); i++)
		CHECK_EQ(run_astray(4, &calls[i]), RUN_TRAP);
	CHECK_EQ(run_astray(4, &right), RUN_DONE);
}

/* --- The checker itself ---------------------------------------------------------------------- */

/* Runs code by hand that loads from the buffer at r11; nothing else is the matter with it. */
static enum outcome run_by_hand(const struct bpf_insn *body, u32 count)
{
	static const struct bpf_insn end[] = {EXIT()};
	struct bpf_insn insns[40] = {INSN(COSY_FENCE, 0, 0, 0, 0)};
	struct cosy_code code = {.insns = insns, .stack_size = COSY_SLOT_SIZE};
	struct cosy_validated program = validated(end, 1);
	struct differential d = setting(LOW);
	struct world world;
	struct checker c = {.program = &program,
			    .code = &code,
			    .how = &d.how,
			    .world = &world,
			    .limit = 100,
			    .max_grant = 10};
	u32 at = 1, reg;
	enum outcome outcome;

	for (reg = 0; reg < 10; reg++)
		insns[at++] = MOV_K(reg, 0);
	memcpy(&insns[at], body, count * sizeof(*body));
	at += count;
	insns[at++] = INSN(BPF_LDX | BPF_PROBE_MEM32 | BPF_B, 2, COSY_AX, 0, 0);
	insns[at++] = EXIT();
	code.insn_cnt = at;
	world_init(&world, LOW, 4096, 1);
	outcome = checker_run(&c);
	world_deinit(&world);
	cosy_validated_deinit(&program);
	return outcome;
}

#define BY_HAND(outcome, ...)                                                                      \
	do {                                                                                       \
		const struct bpf_insn insns_[] = {__VA_ARGS__};                                    \
		CHECK_EQ(run_by_hand(insns_, COUNT(insns_)), outcome);                             \
	} while (0)

/* An access may rely neither on a branch nor on what was stored just before. */
static void the_checker_mispredicts(void)
{
	const struct bpf_insn mask = ALU64_K(BPF_AND, COSY_AX, 4095);

	BY_HAND(RUN_DONE, MOV_K(COSY_AX, 8));
	BY_HAND(RUN_VIOLATION, MOV_K(COSY_AX, 8), JUMP_K(BPF_JNE, 2, 0, 1), JUMP(1),
		MOV_K(COSY_AX, 9000));
	BY_HAND(RUN_VIOLATION, STORE_K(BPF_DW, COSY_FP, COSY_SLOT_VALUE, 8),
		LOAD(BPF_DW, COSY_AX, COSY_FP, COSY_SLOT_VALUE));
	BY_HAND(RUN_VIOLATION, STORE_K(BPF_DW, COSY_FP, COSY_SLOT_VALUE, 8),
		LOAD(BPF_DW, COSY_AX, COSY_FP, COSY_SLOT_VALUE), JUMP_K(BPF_JGT, COSY_AX, 4095, 1));
	BY_HAND(RUN_DONE, STORE_K(BPF_DW, COSY_FP, COSY_SLOT_VALUE, 8),
		LOAD(BPF_DW, COSY_AX, COSY_FP, COSY_SLOT_VALUE), mask);
	/* A fence waits for the store. */
	BY_HAND(RUN_DONE, STORE_K(BPF_DW, COSY_FP, COSY_SLOT_VALUE, 8),
		LOAD(BPF_DW, COSY_AX, COSY_FP, COSY_SLOT_VALUE), INSN(COSY_FENCE, 0, 0, 0, 0));
}

/* --- Pieces at their limits ----------------------------------------------------------------- */

/* Appends `count` copies of what a loop does, in which r6 + 8 * i is stored to and loaded from. */
static void piece_of(u32 count, struct bpf_insn (*make)(u32 index))
{
	struct bpf_insn *insns = calloc(COSY_MAX_INSNS, sizeof(*insns));
	u32 at = 0, i, way;

	MUST(insns);
	insns[at++] = MOV_K(9, 2);
	insns[at++] = MOV_X(6, 1);
	for (i = 0; i < count; i++)
		insns[at++] = make(i);
	insns[at++] = ALU64_K(BPF_ADD, 9, -1);
	insns[at] = JUMP_K(BPF_JNE, 9, 0, 1 - (s32)at);
	at++;
	insns[at++] = EXIT();
	for (way = 0; way < 4; way++) {
		struct differential d = setting(BASED);

		d.how.based = true;
		d.how.copies_ax = way & 2;
		d.leave_every = way & 1;
		run(&d, insns, at);
		CHECK_EQ(d.outcome, RUN_DONE);
	}
	free(insns);
}

/* Loads by one base, more than are planned together. */
static struct bpf_insn make_load(u32 index)
{
	return LOAD(BPF_B, index & 1 ? 2 : 0, 6, index);
}

/* Another value in r7 for each load of two. */
static struct bpf_insn make_group(u32 index)
{
	switch (index % 5) {
	case 0:
		return MOV_X(7, 6);
	case 1:
		return ALU64_K(BPF_LSH, 7, 1);
	case 2:
		return ALU64_K(BPF_RSH, 7, 1);
	default:
		return LOAD(BPF_B, 2, 7, index % 5);
	}
}

/* Sums of r6 and other values, each of which comes again later. */
static struct bpf_insn make_sum(u32 index)
{
	u32 round = index / 5 % 12;

	switch (index % 5) {
	case 0:
		return LOAD(BPF_B, 7, 10, -8 * (s32)(1 + round));
	case 1:
		return ALU64_X(BPF_ADD, 7, 6);
	case 2:
		return STORE(BPF_B, 7, 1 + round, 9);
	case 3:
		return LOAD(BPF_B, 2, 7, 2);
	default:
		return LOAD(BPF_B, 0, 7, 1 + round);
	}
}

/* Jumps over one load each, to places that the next jumps lead past. */
static struct bpf_insn make_join(u32 index)
{
	if (index < 20)
		return JUMP_K(BPF_JEQ, 9, 2, 20);
	return LOAD(BPF_B, index & 1 ? 2 : 0, 6, index);
}

static void pieces_end_where_room_ends(void)
{
	piece_of(1200, make_load);
	piece_of(5 * 40, make_group);
	piece_of(5 * 24, make_sum);
	piece_of(60, make_join);
}

/* Runs based code for a buffer of some size at some place. */
static void run_based(u64 user_base, u32 size, const struct bpf_insn *insns, u32 count,
		      enum outcome outcome)
{
	bool copies;

	for (copies = false;; copies = true) {
		struct differential d = setting(user_base);

		d.how.based = true;
		d.how.copies_ax = copies;
		d.how.size = size;
		run(&d, insns, count);
		CHECK_EQ(d.outcome, outcome);
		if (copies)
			break;
	}
}

#define RUN_BASED(user_base, size, outcome, ...)                                                   \
	do {                                                                                       \
		struct bpf_insn insns_[] = {__VA_ARGS__};                                          \
                                                                                                   \
		run_based(user_base, size, insns_, COUNT(insns_), outcome);                        \
	} while (0)

/* Goes around the instructions before it twice, of which there are `count`, from the third on. */
#define AGAIN(count) ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -(count) - 2), EXIT()

/* What is taken for near another value, and is far away or another one, would not fault. */
static void values_are_told_apart(void)
{
	const u64 other_half = (BASED + 8) ^ (1ull << 63), high = 0x90000000;

	/* A constant and something else; sums of the same value and others. */
	RUN_BASED(BASED, 4096, RUN_FAULT, MOV_K(9, 2), MOV_X(6, 1), MOV_K(7, 16),
		  ALU64_X(BPF_ADD, 7, 6), LOAD(BPF_B, 2, 7, 0), MOV_K(8, 24), LOAD(BPF_B, 2, 8, 0),
		  AGAIN(5));
	RUN_BASED(BASED, 4096, RUN_FAULT, MOV_K(9, 2), STORE_K(BPF_DW, 10, -16, 0x10000),
		  MOV_X(6, 1), LOAD(BPF_DW, 3, 10, -8), LOAD(BPF_DW, 4, 10, -16), MOV_X(7, 6),
		  ALU64_X(BPF_ADD, 7, 3), MOV_X(8, 6), ALU64_X(BPF_ADD, 8, 4), LOAD(BPF_B, 2, 7, 0),
		  LOAD(BPF_B, 2, 8, 0), AGAIN(9));
	RUN_BASED(BASED, 4096, RUN_FAULT, MOV_K(9, 2), MOV_X(6, 1), MOV_K(5, 16),
		  LOAD(BPF_DW, 3, 10, -8), MOV_X(7, 6), ALU64_X(BPF_ADD, 7, 3), MOV_X(8, 5),
		  ALU64_X(BPF_ADD, 8, 3), LOAD(BPF_B, 2, 7, 0), LOAD(BPF_B, 2, 8, 0),
		  ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -9), EXIT());
	/* Constants that differ in their high half, of one instruction or two. */
	RUN_BASED(high, 4096, RUN_FAULT, MOV_K(9, 2), MOV_X(6, 1), IMM64(6, high + 16),
		  LOAD(BPF_B, 2, 6, 0), MOV_K(7, high + 8), LOAD(BPF_B, 2, 7, 0), AGAIN(5));
	RUN_BASED(high, 4096, RUN_FAULT, MOV_K(9, 2), MOV_X(6, 1), IMM64(6, high + 16),
		  LOAD(BPF_B, 2, 6, 0), IMM64(7, high + 8 + (1ull << 32)), LOAD(BPF_B, 2, 7, 0),
		  AGAIN(6));
	RUN_BASED(BASED, 4096, RUN_FAULT, MOV_K(9, 2), MOV_X(6, 1), IMM64(6, BASED + 8),
		  LOAD(BPF_B, 2, 6, 0), IMM64(7, other_half), LOAD(BPF_B, 2, 7, 0), AGAIN(6));
	/* Two ways leave two values, each as it was at first. */
	RUN_BASED(BASED, 4096, RUN_FAULT, MOV_K(9, 2), MOV_K(6, 16), LOAD(BPF_B, 2, 1, 0),
		  MOV_X(8, 1), LOAD(BPF_B, 2, 8, 1), JUMP_K(BPF_JEQ, 9, 2, 1), MOV_X(6, 8),
		  LOAD(BPF_B, 2, 6, 0), AGAIN(6));
	/* A difference; offsets whose sum with another's is none of 16 bits. */
	RUN_BASED(BASED, 4096, RUN_DONE, MOV_K(9, 2), MOV_X(6, 1), STORE_K(BPF_B, 6, 0, 1),
		  MOV_X(7, 6), ALU64_K(BPF_SUB, 7, -8), STORE_K(BPF_B, 7, 0, 9),
		  LOAD(BPF_B, 0, 6, 8), AGAIN(5));
	RUN_BASED(BASED, 1 << 17, RUN_DONE, MOV_K(9, 2), MOV_X(6, 1), ALU64_K(BPF_ADD, 6, 40000),
		  LOAD(BPF_B, 2, 6, -32768), MOV_X(7, 6), ALU64_K(BPF_ADD, 7, -8),
		  LOAD(BPF_B, 0, 7, -32768), ALU64_K(BPF_ADD, 6, -40000), AGAIN(6));
}

/* What one piece knew is nothing to the next, nor is what only others lead to. */
static void pieces_stay_apart(void)
{
	/* Each second access; the later one is too far off its base to be planned. */
	RUN_BASED(BASED, 4096, RUN_DONE, MOV_K(9, 2), MOV_X(6, 1), MOV_X(7, 6),
		  ALU64_K(BPF_ADD, 7, 5000), LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 3, 6, 1),
		  CALL(COSY_NR_getpid), LOAD(BPF_B, 0, 6, 8), LOAD(BPF_B, 2, 7, -4980),
		  LOAD(BPF_B, 3, 6, 9), ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -8), EXIT());
	/* A sum has another number. */
	RUN_BASED(BASED, 4096, RUN_FAULT, MOV_K(9, 2), MOV_X(6, 1),
		  STORE_K(BPF_DW, 10, -8, 0x10000), STORE(BPF_DW, 10, -16, 6),
		  LOAD(BPF_DW, 3, 10, -8), MOV_X(7, 6), ALU64_X(BPF_ADD, 7, 3),
		  CALL(COSY_NR_getpid), LOAD(BPF_DW, 3, 10, -8), LOAD(BPF_DW, 4, 10, -16),
		  MOV_X(8, 6), ALU64_X(BPF_ADD, 8, 3), LOAD(BPF_B, 2, 4, 0), LOAD(BPF_B, 2, 8, 0),
		  ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -12), EXIT());
	/* Nor does a jump past the end of one tell what registers are to the next. */
	RUN_BASED(BASED, 4096, RUN_FAULT, MOV_K(9, 2), MOV_X(6, 1),
		  STORE_K(BPF_DW, 10, -8, 0x100000), STORE(BPF_DW, 10, -16, 1),
		  /* 4 */ LOAD(BPF_DW, 3, 10, -8), LOAD(BPF_B, 2, 10, -24),
		  LOAD(BPF_DW, 8, 10, -16), JUMP_K(BPF_JEQ, 9, 2, 5), CALL(COSY_NR_getpid),
		  /* 9 */ LOAD(BPF_DW, 3, 10, -8), LOAD(BPF_B, 2, 10, -24), MOV_X(8, 6),
		  ALU64_X(BPF_ADD, 8, 3), /* 13 */ MOV_X(7, 6), ALU64_X(BPF_ADD, 7, 3),
		  LOAD(BPF_B, 2, 8, 0), LOAD(BPF_B, 2, 7, 0), ALU64_K(BPF_ADD, 9, -1),
		  JUMP_K(BPF_JNE, 9, 0, -15), EXIT());
	/* A jump from elsewhere to after an exit; one that the first round takes. */
	ALL_WAYS(RUN_FAULT, 0, MOV_K(9, 2), MOV_X(6, 1), ALU64_K(BPF_ADD, 6, 4032),
		 /* 3 */ JUMP_K(BPF_JEQ, 9, 2, 3), CALL(COSY_NR_getpid), LOAD(BPF_B, 2, 6, -8),
		 EXIT(), /* 7 */ LOAD(BPF_B, 2, 6, 0), ALU64_K(BPF_ADD, 9, -1),
		 JUMP_K(BPF_JNE, 9, 0, -7), EXIT());
	/* The second half of a constant changes no register. */
	RUN_BASED(LOW, 4096, RUN_FAULT, MOV_K(9, 2), MOV_K(0, 16), IMM64(8, LOW + 8),
		  LOAD(BPF_B, 2, 8, 0), IMM64(7, (LOW + 16) << 32), LOAD(BPF_B, 2, 0, 0), AGAIN(6));
}

/* The second half of a constant is none in a slow copy, either. */
static void slow_copies_have_whole_constants(void)
{
	ALL_WAYS(RUN_DONE, 7, MOV_K(9, 2), IMM64(6, WORLD_HEAP_BASE + 8), STORE_K(BPF_DW, 6, 0, 5),
		 MOV_K(0, 7), IMM64(7, 0x1122334455667788), STORE_K(BPF_DW, 6, 8, 6),
		 ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -7), EXIT());
}

int main(void)
{
	constants_stay_hidden();
	each_constant_has_its_mask();
	hidden_offsets_add_up();
	branches_of_each_kind_work();
	far_branches_of_each_kind_work();
	loops_of_one_instruction_spend_fuel();
	ordinary_calls_take_no_other_way();
	returns_zero_what_callees_had();
	what_is_no_resume_point_traps();
	what_is_no_call_site_traps();
	the_checker_mispredicts();
	pieces_end_where_room_ends();
	values_are_told_apart();
	pieces_stay_apart();
	slow_copies_have_whole_constants();
	return check_result();
}
