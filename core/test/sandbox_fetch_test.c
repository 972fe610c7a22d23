// SPDX-License-Identifier: GPL-2.0 OR MIT
/* sandbox_fetch_test.c - loads outside the buffer that are made together. */
#include "ways.h"

#define HEAP (WORLD_HEAP_BASE + 64)

/* The same value in another register, which counts as another one. */
#define UNKNOWN(dst, src) MOV_X(dst, src), ALU64_K(BPF_LSH, dst, 1), ALU64_K(BPF_RSH, dst, 1)
#define ADD_TO_0(reg)	  ALU64_X(BPF_ADD, 0, reg)
/* No instruction, and a place that a jump leads to. */
#define ORDER JUMP(0)

/*
 * A program that runs its body twice, since only accesses in a loop are fetched.  r6 is `place` and
 * r0 is 0 at the beginning of each round.
 */
struct twice {
	struct bpf_insn insns[64];
	u32 count;
};

static struct twice twice(u64 place, const struct bpf_insn *body, u32 count)
{
	const struct bpf_insn begin[] = {MOV_K(9, 2), IMM64(6, place), MOV_K(0, 0)};
	const struct bpf_insn end[] = {ALU64_K(BPF_ADD, 9, -1),
				       JUMP_K(BPF_JNE, 9, 0, -(s32)count - 5), EXIT()};
	struct twice ret = {.count = COUNT(begin) + count + COUNT(end)};

	MUST(ret.count <= COUNT(ret.insns));
	memcpy(ret.insns, begin, sizeof(begin));
	memcpy(ret.insns + COUNT(begin), body, count * sizeof(*body));
	memcpy(ret.insns + COUNT(begin) + count, end, sizeof(end));
	return ret;
}

#define TWICE(place, ...)                                                                          \
	({                                                                                         \
		const struct bpf_insn body_[] = {__VA_ARGS__};                                     \
                                                                                                   \
		twice(place, body_, COUNT(body_));                                                 \
	})

/* Runs it in based code; d->slow is how often it called a thunk that reaches memory. */
static struct differential run_based(const struct twice *program)
{
	struct differential d = setting(BASED);

	d.how.based = true;
	run(&d, program->insns, program->count);
	CHECK_EQ(d.outcome, RUN_DONE);
	return d;
}

#define WAYS(outcome, result, ...)                                                                 \
	do {                                                                                       \
		const struct twice program_ = TWICE(__VA_ARGS__);                                  \
                                                                                                   \
		run_all_ways(program_.insns, program_.count, outcome, result);                     \
	} while (0)

/* Expects `each` of these thunks in each of the two rounds. */
#define THUNKS(each, ...)                                                                          \
	do {                                                                                       \
		const struct twice program_ = TWICE(__VA_ARGS__);                                  \
                                                                                                   \
		CHECK_EQ(run_based(&program_).slow, 2 * (each));                                   \
	} while (0)

#define FETCHED(each, result, ...)                                                                 \
	do {                                                                                       \
		THUNKS(each, __VA_ARGS__);                                                         \
		WAYS(RUN_DONE, result, __VA_ARGS__);                                               \
	} while (0)

static void fields_are_fetched_once(void)
{
	/* Eight words, and some of each size with gaps between. */
	FETCHED(2, 8, HEAP, STORE_K(BPF_B, 6, 56, 8), LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 8),
		LOAD(BPF_DW, 2, 6, 16), LOAD(BPF_DW, 2, 6, 24), LOAD(BPF_DW, 2, 6, 32),
		LOAD(BPF_DW, 2, 6, 40), LOAD(BPF_DW, 2, 6, 48), LOAD(BPF_B, 0, 6, 56));
	FETCHED(3, 0x010203 + 0x07060504 - 2ll, HEAP, STORE_K(BPF_DW, 6, 3, 0x07060504),
		STORE_K(BPF_W, 6, 17, 0xfe010203), LOAD(BPF_W, 0, 6, 3), LOAD(BPF_H, 2, 6, 17),
		ADD_TO_0(2), LOAD(BPF_B, 2, 6, 19), ALU64_K(BPF_LSH, 2, 16), ADD_TO_0(2),
		LOADS(BPF_B, 2, 6, 20), ADD_TO_0(2));
	/* The base is overwritten by the first load, or moved on. */
	FETCHED(3, 5, HEAP, STORE_K(BPF_DW, 6, 0, 1), STORE_K(BPF_DW, 6, 8, 5), MOV_X(7, 6),
		LOAD(BPF_DW, 6, 6, 0), LOAD(BPF_DW, 0, 7, 8));
	FETCHED(3, 6, HEAP, STORE_K(BPF_DW, 6, 0, 1), STORE_K(BPF_DW, 6, 8, 5),
		LOAD(BPF_DW, 0, 6, 8), ALU64_K(BPF_ADD, 6, -8), LOAD(BPF_DW, 2, 6, 8), ADD_TO_0(2));
	/* What a jump away skips, and bytes of a loop that was unrolled. */
	FETCHED(2, 3, HEAP, STORE_K(BPF_W, 6, 0, 0x00000201), LOAD(BPF_B, 2, 6, 0), ADD_TO_0(2),
		JUMP_K(BPF_JEQ, 2, 0, 6), LOAD(BPF_B, 2, 6, 1), ADD_TO_0(2),
		JUMP_K(BPF_JEQ, 2, 0, 3), LOAD(BPF_B, 2, 6, 2), ADD_TO_0(2),
		JUMP_K(BPF_JEQ, 2, 0, 0));
	/* A word that two loads share is not worth more than one of them is far away. */
	THUNKS(2, HEAP, LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 48));
	THUNKS(1, HEAP, LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 40));
	/* As many words as there are, and one more. */
	THUNKS(1, HEAP, LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 40), LOAD(BPF_DW, 2, 6, 80),
	       LOAD(BPF_DW, 2, 6, 120));
	THUNKS(2, HEAP, LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 40), LOAD(BPF_DW, 2, 6, 80),
	       LOAD(BPF_DW, 2, 6, 121));
}

/* A store ends what it may change, and nothing else. */
static void stores_are_seen(void)
{
	/* By another register, to the same place or not: that is not known. */
	FETCHED(4, 7, HEAP, UNKNOWN(7, 6), STORE_K(BPF_DW, 6, 8, 1), LOAD(BPF_DW, 2, 6, 0),
		STORE_K(BPF_DW, 7, 8, 7), LOAD(BPF_DW, 0, 6, 8));
	FETCHED(4, 7, HEAP, MOV_X(7, 6), ALU64_K(BPF_ADD, 7, 16), UNKNOWN(7, 7),
		STORE_K(BPF_DW, 6, 0, 1), LOAD(BPF_DW, 2, 6, 0), STORE_K(BPF_DW, 7, -16, 7),
		LOAD(BPF_DW, 0, 6, 0));
	/* By the same one: into the bytes, from below and above, and beside them. */
	FETCHED(4, 7, HEAP, STORE_K(BPF_DW, 6, 8, 1), LOAD(BPF_DW, 2, 6, 8),
		STORE_K(BPF_DW, 6, 8, 7), LOAD(BPF_DW, 0, 6, 8));
	FETCHED(5, 0x0707, HEAP, STORE_K(BPF_DW, 6, 8, 1), LOAD(BPF_DW, 2, 6, 8),
		LOAD(BPF_DW, 2, 6, 8), STORE_K(BPF_DW, 6, 2, 0x07070707),
		STORE_K(BPF_W, 6, 6, 0x07070707), LOAD(BPF_DW, 0, 6, 8));
	FETCHED(4, 0x0700000000000001, HEAP, STORE_K(BPF_DW, 6, 8, 1), LOAD(BPF_DW, 2, 6, 8),
		LOAD(BPF_DW, 2, 6, 8), STORE_K(BPF_H, 6, 15, 7), LOAD(BPF_DW, 0, 6, 8));
	FETCHED(4, 6, HEAP, STORE_K(BPF_DW, 6, 8, 5), LOAD(BPF_DW, 0, 6, 8),
		STORE_K(BPF_DW, 6, 0, 1), STORE_K(BPF_DW, 6, 16, 1), LOAD(BPF_DW, 2, 6, 8),
		ALU64_K(BPF_ADD, 0, 1));
	/* One beside them is in the bytes that a later load would add. */
	FETCHED(4, 7, HEAP, STORE_K(BPF_DW, 6, 16, 1), LOAD(BPF_DW, 2, 6, 8),
		STORE_K(BPF_DW, 6, 16, 7), LOAD(BPF_DW, 0, 6, 16));
	FETCHED(4, 7, HEAP, STORE_K(BPF_DW, 6, 0, 1), LOAD(BPF_DW, 2, 6, 8),
		STORE_K(BPF_DW, 6, 0, 7), LOAD(BPF_DW, 0, 6, 0));
	/* In the buffer, which r1 points into; and in the frame, which changes no memory. */
	FETCHED(2, 5, HEAP, LOAD(BPF_DW, 2, 6, 0), STORE_K(BPF_DW, 1, 0, 5), LOAD(BPF_DW, 2, 6, 8),
		LOAD(BPF_DW, 0, 1, 0));
	FETCHED(1, 5, HEAP, LOAD(BPF_DW, 2, 6, 0), STORE_K(BPF_DW, 10, -8, 5),
		LOAD(BPF_DW, 2, 6, 8), LOAD(BPF_DW, 0, 10, -8));
	/* An atomic ends all of them. */
	WAYS(RUN_DONE, 7, HEAP, STORE_K(BPF_DW, 6, 8, 3), MOV_K(7, 4), LOAD(BPF_DW, 2, 6, 0),
	     ATOMIC(BPF_DW, BPF_ADD, 6, 8, 7), LOAD(BPF_DW, 0, 6, 8));
}

/* Where ways meet that all lead through the leader, its copy holds. */
static void ways_meet(void)
{
	/* One way around an instruction, taken and not; and two ways. */
	FETCHED(2, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), LOAD(BPF_DW, 2, 6, 0),
		JUMP_K(BPF_JEQ, 9, 1, 1), MOV_K(2, 3), LOAD(BPF_DW, 0, 6, 8));
	FETCHED(2, 6, HEAP, STORE_K(BPF_DW, 6, 8, 5), LOAD(BPF_DW, 2, 6, 0), MOV_K(2, 2),
		JUMP_K(BPF_JEQ, 9, 2, 2), MOV_K(2, 1), JUMP(1), MOV_K(2, 3), LOAD(BPF_DW, 0, 6, 8),
		ADD_TO_0(2));
	/* Each byte of an unrolled loop has a branch. */
	FETCHED(2, 2, HEAP, STORE_K(BPF_W, 6, 0, 0x00010201), LOAD(BPF_B, 2, 6, 0),
		JUMP_K(BPF_JNE, 2, 1, 1), ALU64_K(BPF_ADD, 0, 1), LOAD(BPF_B, 2, 6, 1),
		JUMP_K(BPF_JNE, 2, 1, 1), ALU64_K(BPF_ADD, 0, 1), LOAD(BPF_B, 2, 6, 2),
		JUMP_K(BPF_JNE, 2, 1, 1), ALU64_K(BPF_ADD, 0, 1));
	/* Several jumps to one place. */
	FETCHED(2, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), LOAD(BPF_DW, 2, 6, 0),
		JUMP_K(BPF_JEQ, 9, 1, 3), MOV_K(2, 3), JUMP_K(BPF_JEQ, 9, 2, 1), MOV_K(2, 4),
		LOAD(BPF_DW, 0, 6, 8));
	/* A store on one of the ways, into the bytes and beside them. */
	FETCHED(4, 5, HEAP, STORE_K(BPF_DW, 6, 0, 1), JUMP_K(BPF_JEQ, 9, 1, 0),
		LOAD(BPF_DW, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 7, 1), STORE_K(BPF_DW, 6, 0, 5),
		LOAD(BPF_DW, 0, 6, 0));
	FETCHED(4, 5, HEAP, STORE_K(BPF_DW, 6, 8, 1), LOAD(BPF_DW, 2, 6, 0),
		JUMP_K(BPF_JEQ, 9, 7, 1), STORE_K(BPF_DW, 6, 8, 5), LOAD(BPF_DW, 0, 6, 8));
	WAYS(RUN_DONE, 1, HEAP, STORE_K(BPF_DW, 6, 0, 1), LOAD(BPF_DW, 2, 6, 0),
	     JUMP_K(BPF_JEQ, 9, 1, 1), STORE_K(BPF_DW, 6, 0, 5), LOAD(BPF_DW, 0, 6, 0));
	/* A leader on one of the ways only, and one between two jumps to the place. */
	FETCHED(3, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), JUMP_K(BPF_JEQ, 9, 7, 2),
		LOAD(BPF_DW, 2, 6, 0), JUMP(1), MOV_K(2, 1), LOAD(BPF_DW, 0, 6, 8));
	FETCHED(3, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), JUMP_K(BPF_JEQ, 9, 7, 3),
		LOAD(BPF_DW, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 7, 1), MOV_K(2, 1),
		LOAD(BPF_DW, 0, 6, 8));
	WAYS(RUN_DONE, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), JUMP_K(BPF_JNE, 9, 7, 2),
	     LOAD(BPF_DW, 2, 6, 0), JUMP(1), MOV_K(2, 1), LOAD(BPF_DW, 0, 6, 8));
	/* The base is another register's after one of the ways, or the same after both. */
	WAYS(RUN_DONE, 7, HEAP, STORE_K(BPF_DW, 6, 8, 5), STORE_K(BPF_DW, 6, 16, 7),
	     LOAD(BPF_DW, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 2, 1), ALU64_K(BPF_ADD, 6, 8),
	     LOAD(BPF_DW, 0, 6, 8));
	FETCHED(3, 7, HEAP, STORE_K(BPF_DW, 6, 8, 5), STORE_K(BPF_DW, 6, 16, 7),
		LOAD(BPF_DW, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 2, 2), ALU64_K(BPF_ADD, 6, 8), JUMP(1),
		ALU64_K(BPF_ADD, 6, 8), LOAD(BPF_DW, 0, 6, 8));
	/* The same in the middle of a slow copy, also after two ways that met before. */
	WAYS(RUN_DONE, 7, HEAP, STORE_K(BPF_DW, 6, 8, 5), STORE_K(BPF_DW, 6, 16, 7), MOV_X(8, 6),
	     LOAD(BPF_DW, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 2, 1), ALU64_K(BPF_ADD, 6, 8),
	     LOAD(BPF_DW, 0, 6, 8), LOAD(BPF_DW, 2, 8, 24));
	WAYS(RUN_DONE, 7, HEAP, STORE_K(BPF_DW, 6, 8, 5), STORE_K(BPF_DW, 6, 16, 7), MOV_X(8, 6),
	     LOAD(BPF_DW, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 2, 2), MOV_K(2, 1), JUMP(1), MOV_K(2, 3),
	     JUMP_K(BPF_JEQ, 9, 2, 1), ALU64_K(BPF_ADD, 6, 8), LOAD(BPF_DW, 0, 6, 8),
	     LOAD(BPF_DW, 2, 8, 24));
	/* A jump from before the slow copy leads to where they meet. */
	WAYS(RUN_DONE, 5, HEAP, UNKNOWN(8, 6), STORE_K(BPF_DW, 8, 8, 5), UNKNOWN(8, 6),
	     STORE_K(BPF_DW, 8, 16, 7), JUMP_K(BPF_JEQ, 9, 7, 5), LOAD(BPF_DW, 2, 6, 0),
	     LOAD(BPF_DW, 2, 6, 8), MOV_X(7, 6), JUMP_K(BPF_JEQ, 9, 1, 1), ALU64_K(BPF_ADD, 7, 8),
	     LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 0, 7, 8), LOAD(BPF_DW, 2, 6, 24));
}

static void ways_lead_past_a_leader(void)
{
	/* A jump over it, to a load that then stands alone. */
	FETCHED(3, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), JUMP_K(BPF_JEQ, 9, 7, 1),
		LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 0, 6, 8), LOAD(BPF_DW, 2, 6, 16));
	WAYS(RUN_DONE, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), JUMP_K(BPF_JNE, 9, 7, 1),
	     LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 0, 6, 8));
	/* The base is another one after one of two ways. */
	WAYS(RUN_DONE, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), STORE_K(BPF_DW, 6, 16, 7),
	     LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 8), JUMP_K(BPF_JEQ, 9, 1, 1),
	     ALU64_K(BPF_ADD, 6, 8), LOAD(BPF_DW, 0, 6, 8));
	WAYS(RUN_DONE, 7, HEAP, STORE_K(BPF_DW, 6, 8, 5), STORE_K(BPF_DW, 6, 16, 7),
	     LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 8), JUMP_K(BPF_JEQ, 9, 2, 1),
	     ALU64_K(BPF_ADD, 6, 8), LOAD(BPF_DW, 0, 6, 8));
	/* Two registers are the same after one of two ways alone. */
	WAYS(RUN_DONE, 5, HEAP, STORE_K(BPF_DW, 6, 8, 5), STORE_K(BPF_DW, 6, 16, 7), MOV_X(7, 6),
	     LOAD(BPF_DW, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 1, 1), ALU64_K(BPF_ADD, 7, 8),
	     LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 0, 7, 8), LOAD(BPF_DW, 2, 6, 8));
	/* They are the same at the end of the piece, and not where its slow copy begins. */
	FETCHED(3, 7, HEAP, UNKNOWN(7, 6), ALU64_K(BPF_ADD, 7, 64), STORE_K(BPF_DW, 7, 8, 7),
		LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 8), LOAD(BPF_DW, 0, 7, 8), MOV_X(7, 6));
}

/*
 * r7 points into the buffer and r6 out of it.  What is stored there is stored by other values, each
 * of which has one access alone and does not lead to the slow copy.
 */
#define IN_AND_OUT                                                                                 \
	HEAP + 256, UNKNOWN(7, 1), STORE_K(BPF_DW, 1, 8, 3), STORE_K(BPF_DW, 1, 16, 4),            \
		UNKNOWN(8, 6), STORE_K(BPF_DW, 8, 8, 7), UNKNOWN(8, 6), STORE_K(BPF_DW, 8, 16, 8)

/* The slow copy is entered in its middle: what r7 points to has to be fetched there. */
static void copies_are_entered_in_the_middle(void)
{
	WAYS(RUN_DONE, 10, IN_AND_OUT, LOAD(BPF_DW, 2, 7, 0), LOAD(BPF_DW, 2, 6, 0),
	     LOAD(BPF_DW, 0, 7, 8), LOAD(BPF_DW, 2, 6, 8), ADD_TO_0(2));
	/* Two stores and two fetches: none of them leaves. */
	THUNKS(4, IN_AND_OUT, LOAD(BPF_DW, 2, 7, 0), LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 0, 7, 8),
	       LOAD(BPF_DW, 2, 6, 8), ADD_TO_0(2));
	/* By a register that has moved on, from below the leader. */
	WAYS(RUN_DONE, 3 + 4 + 7 + 8, IN_AND_OUT, LOAD(BPF_DW, 0, 7, 16), ALU64_K(BPF_ADD, 7, 8),
	     LOAD(BPF_DW, 3, 6, 16), LOAD(BPF_DW, 2, 7, 0), ADD_TO_0(2), LOAD(BPF_DW, 2, 6, 8),
	     ADD_TO_0(2), ADD_TO_0(3));
	/* No register holds the address there; later one does again. */
	WAYS(RUN_DONE, 10, IN_AND_OUT, LOAD(BPF_B, 5, 10, -8), MOV_X(3, 7), ALU64_X(BPF_ADD, 3, 5),
	     LOAD(BPF_DW, 2, 3, 0), MOV_K(3, 0), LOAD(BPF_DW, 2, 6, 0), MOV_X(3, 7),
	     ALU64_X(BPF_ADD, 3, 5), LOAD(BPF_DW, 0, 3, 8), LOAD(BPF_DW, 2, 6, 8), ADD_TO_0(2));
	/* At a store; and two fetches at once. */
	WAYS(RUN_DONE, 4, IN_AND_OUT, LOAD(BPF_DW, 2, 7, 8), STORE_K(BPF_DW, 10, -8, 1),
	     STORE_K(BPF_DW, 7, 32, 5), LOAD(BPF_DW, 2, 7, 8), LOAD(BPF_DW, 2, 6, 16),
	     LOAD(BPF_DW, 0, 7, 16), LOAD(BPF_DW, 2, 6, 8));
	WAYS(RUN_DONE, 3 + 4 + 7 + 8, IN_AND_OUT, UNKNOWN(5, 7), LOAD(BPF_DW, 0, 7, 8),
	     LOAD(BPF_DW, 2, 5, 8), LOAD(BPF_DW, 3, 6, 8), LOAD(BPF_DW, 4, 7, 16), ADD_TO_0(3),
	     LOAD(BPF_DW, 3, 5, 16), LOAD(BPF_DW, 2, 6, 16), ADD_TO_0(2), ADD_TO_0(3));
}

/* A call ends a piece.  A load that follows in one slow copy leads in the next. */
static void slow_copies_are_planned_apart(void)
{
	WAYS(RUN_DONE, 5 + 7, HEAP, MOV_X(7, 6), ALU64_K(BPF_ADD, 7, 128), UNKNOWN(7, 7),
	     STORE_K(BPF_DW, 6, 0, 1), STORE_K(BPF_DW, 7, 0, 5), STORE_K(BPF_DW, 7, 8, 7), CALL(39),
	     LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 8), LOAD(BPF_DW, 2, 6, 16), CALL(39),
	     LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 0, 7, 0), LOAD(BPF_DW, 2, 6, 8),
	     LOAD(BPF_DW, 3, 7, 8), ADD_TO_0(3));
}

/* Loads with `goto +0` between are made one after the other. */
static void ordered_loads_stand_alone(void)
{
	THUNKS(1, HEAP, LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 8));
	THUNKS(2, HEAP, LOAD(BPF_DW, 2, 6, 0), ORDER, LOAD(BPF_DW, 2, 6, 8));
	THUNKS(3, HEAP, LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 8), ORDER, LOAD(BPF_DW, 2, 6, 16),
	       ORDER, LOAD(BPF_DW, 2, 6, 24), LOAD(BPF_DW, 2, 6, 32));
}

/* The heap ends 4032 bytes above HEAP, and begins 64 below; nothing is next to it. */
static void memory_ends_in_a_fetch(void)
{
	/* The last bytes, of which the fetch would take in some that are not there. */
	WAYS(RUN_DONE, 7, HEAP + 4029, STORE_K(BPF_B, 6, 2, 7), LOAD(BPF_B, 2, 6, 0),
	     LOAD(BPF_B, 2, 6, 1), LOAD(BPF_B, 0, 6, 2));
	/* A load that is skipped would fault, above and below. */
	WAYS(RUN_DONE, 1, HEAP + 4024, STORE_K(BPF_B, 6, 0, 1), LOAD(BPF_B, 0, 6, 0),
	     JUMP_K(BPF_JEQ, 0, 1, 1), LOAD(BPF_DW, 2, 6, 8));
	WAYS(RUN_DONE, 1, HEAP - 64, STORE_K(BPF_B, 6, 0, 1), LOAD(BPF_B, 0, 6, 0),
	     JUMP_K(BPF_JEQ, 0, 1, 1), LOAD(BPF_DW, 2, 6, -8));
	/* One that is not skipped does fault, and what comes before it is done. */
	WAYS(RUN_FAULT, 0, HEAP + 4024, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_DW, 3, 6, 8));
	WAYS(RUN_FAULT, 0, HEAP - 64, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_DW, 3, 6, -1));
	WAYS(RUN_FAULT, 0, 0, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_DW, 3, 6, 8));
	WAYS(RUN_FAULT, 0, 0xffff888000000000, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_DW, 3, 6, 8));
	/* Across the end of the buffer, and around the end of all addresses. */
	WAYS(RUN_FAULT, 0, 0, MOV_X(6, 1), ALU64_K(BPF_ADD, 6, 4028), LOAD(BPF_B, 2, 6, 0),
	     LOAD(BPF_DW, 3, 6, 4));
	WAYS(RUN_FAULT, 0, -4ll, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_DW, 3, 6, 8));
}

/*
 * An aligned load is part of one word of its fetch.  Here a fetch begins 4 bytes below the heap for
 * this, so that it leaves, which it would not if it began with the first load.
 */
static void aligned_loads_are_not_split(void)
{
	const struct twice first = TWICE(HEAP - 64, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_DW, 2, 6, 4)),
			   later = TWICE(HEAP - 64, LOAD(BPF_W, 2, 6, 4), LOAD(BPF_B, 2, 6, 0)),
			   small = TWICE(HEAP - 64, LOAD(BPF_W, 2, 6, 6), LOAD(BPF_H, 2, 6, 0));

	/* The first round leaves, and the reference goes on to the end. */
	CHECK_EQ(run_based(&first).slow, 1);
	CHECK_EQ(run_based(&later).slow, 2);
	CHECK_EQ(run_based(&small).slow, 1);
}

/* Fetches that go on at one time have words of their own, as many as the frame leaves. */
static void words_are_shared_out(void)
{
	/* Two bases in turns; then the words of one that has ended. */
	FETCHED(4, 10, HEAP, UNKNOWN(7, 6), ALU64_K(BPF_ADD, 7, 512), STORE_K(BPF_DW, 6, 8, 3),
		STORE_K(BPF_DW, 7, 8, 7), LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 7, 0),
		LOAD(BPF_DW, 0, 6, 8), LOAD(BPF_DW, 2, 7, 8), ADD_TO_0(2));
#define WIDE(base) LOAD(BPF_DW, 2, base, 0), LOAD(BPF_DW, 2, base, 40), LOAD(BPF_DW, 2, base, 72)
	THUNKS(4, HEAP, UNKNOWN(7, 6), WIDE(6), LOAD(BPF_DW, 2, 7, 0), WIDE(6),
	       LOAD(BPF_DW, 2, 7, 40), LOAD(BPF_DW, 2, 7, 72));
	THUNKS(3, HEAP, UNKNOWN(7, 6), WIDE(6), ORDER, WIDE(7), ORDER, WIDE(6));
	/* Words that are free, but not next to each other. */
	WAYS(RUN_DONE, 7, HEAP, UNKNOWN(7, 6), ALU64_K(BPF_ADD, 7, 512), MOV_X(8, 7),
	     ALU64_K(BPF_ADD, 8, 512), UNKNOWN(8, 8), STORE_K(BPF_DW, 7, 8, 7),
	     LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 7, 0), LOAD(BPF_DW, 2, 6, 8),
	     LOAD(BPF_DW, 2, 8, 0), LOAD(BPF_DW, 2, 8, 8), LOAD(BPF_DW, 2, 8, 16),
	     LOAD(BPF_DW, 2, 8, 24), LOAD(BPF_DW, 0, 7, 8));
	/* Five at a time: the oldest takes in no more. */
	FETCHED(11, 1 + 2 + 3 + 4 + 5, HEAP, UNKNOWN(1, 6), ALU64_K(BPF_ADD, 1, 64), UNKNOWN(2, 1),
		ALU64_K(BPF_ADD, 2, 64), UNKNOWN(3, 2), ALU64_K(BPF_ADD, 3, 64), UNKNOWN(4, 3),
		ALU64_K(BPF_ADD, 4, 64), STORE_K(BPF_B, 6, 8, 1), STORE_K(BPF_B, 1, 8, 2),
		STORE_K(BPF_B, 2, 8, 3), STORE_K(BPF_B, 3, 8, 4), STORE_K(BPF_B, 4, 8, 5),
		LOAD(BPF_B, 5, 6, 0), LOAD(BPF_B, 5, 1, 0), LOAD(BPF_B, 5, 2, 0),
		LOAD(BPF_B, 5, 3, 0), LOAD(BPF_B, 5, 4, 0), LOAD(BPF_B, 5, 4, 8), ADD_TO_0(5),
		LOAD(BPF_B, 5, 3, 8), ADD_TO_0(5), LOAD(BPF_B, 5, 2, 8), ADD_TO_0(5),
		LOAD(BPF_B, 5, 1, 8), ADD_TO_0(5), LOAD(BPF_B, 5, 6, 8), ADD_TO_0(5));
	/* The program's own frame takes all of them, or all but one. */
#define OWN(size)                                                                                  \
	HEAP, STORE_K(BPF_B, 6, 8, 7), STORE_K(BPF_DW, 10, -(size), 3), LOAD(BPF_B, 0, 6, 0),      \
		LOAD(BPF_B, 0, 6, 8), LOAD(BPF_DW, 2, 10, -(size)), ADD_TO_0(2)
	FETCHED(3, 10, OWN(448));
	FETCHED(3, 10, OWN(440));
	FETCHED(2, 10, OWN(432));
	FETCHED(2, 10, OWN(320));
}

/* Counts what eight loads of 64 bytes take beside the thunk's own instructions. */
static void fetched_loads_are_cheap(void)
{
	const struct twice fields =
		TWICE(HEAP, LOAD(BPF_DW, 2, 6, 0), LOAD(BPF_DW, 2, 6, 8), LOAD(BPF_DW, 2, 6, 16),
		      LOAD(BPF_DW, 2, 6, 24), LOAD(BPF_DW, 2, 6, 32), LOAD(BPF_DW, 2, 6, 40),
		      LOAD(BPF_DW, 2, 6, 48), LOAD(BPF_DW, 2, 6, 56));
	const struct twice none = TWICE(HEAP, MOV_K(2, 0));

	/*
	 * The test that fails, what the thunk is told, the loads, and the jump back; once for both
	 * rounds the prologue clears what the thunk writes.
	 */
	CHECK(run_based(&fields).executed - run_based(&none).executed <=
	      2 * (3 + 3 + 8 + 1 - 1) + COSY_FETCH_WORDS + 1);
}

int main(void)
{
	fields_are_fetched_once();
	stores_are_seen();
	ways_meet();
	ways_lead_past_a_leader();
	copies_are_entered_in_the_middle();
	slow_copies_are_planned_apart();
	ordered_loads_stand_alone();
	memory_ends_in_a_fetch();
	aligned_loads_are_not_split();
	words_are_shared_out();
	fetched_loads_are_cheap();
	return check_result();
}
