// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * sandbox_test.c - the sandbox's promises, each on a program made for it.  That
 * they hold for every program is for tests/fuzz to look for.
 */
#include "ways.h"

/* --- Results ------------------------------------------------------------------------------ */

static void division_follows_the_rfc(void)
{
#define DIVIDE(op, class, off, a, b)                                                               \
	IMM64(0, a), IMM64(2, b), INSN((class) | (op) | BPF_X, 0, 2, off, 0), EXIT()
	ALL_WAYS(RUN_DONE, 0, DIVIDE(BPF_DIV, BPF_ALU64, 0, 9, 0));
	ALL_WAYS(RUN_DONE, 9, DIVIDE(BPF_MOD, BPF_ALU64, 0, 9, 0));
	ALL_WAYS(RUN_DONE, 0, DIVIDE(BPF_DIV, BPF_ALU64, 1, 9, 0));
	ALL_WAYS(RUN_DONE, 9, DIVIDE(BPF_MOD, BPF_ALU64, 1, 9, 0));
	ALL_WAYS(RUN_DONE, 1ull << 63, DIVIDE(BPF_DIV, BPF_ALU64, 1, 1ull << 63, -1));
	ALL_WAYS(RUN_DONE, 0, DIVIDE(BPF_MOD, BPF_ALU64, 1, 1ull << 63, -1));
	ALL_WAYS(RUN_DONE, 0x80000000, DIVIDE(BPF_DIV, BPF_ALU, 1, 0x80000000, -1));
	ALL_WAYS(RUN_DONE, 0xfffffffd, DIVIDE(BPF_DIV, BPF_ALU, 1, -7, 2));
	ALL_WAYS(RUN_DONE, -3ll, DIVIDE(BPF_DIV, BPF_ALU64, 1, -7, 2));
	ALL_WAYS(RUN_DONE, -1ll, DIVIDE(BPF_MOD, BPF_ALU64, 1, -7, 2));
	/*
	 * In 32 bits the low half decides what is zero, and the result is zero-extended whatever
	 * happens.
	 */
	ALL_WAYS(RUN_DONE, 0x9, DIVIDE(BPF_MOD, BPF_ALU, 0, 0x500000009, 0x700000000));
	ALL_WAYS(RUN_DONE, 0, DIVIDE(BPF_DIV, BPF_ALU, 0, 0x500000009, 0x700000000));
	ALL_WAYS(RUN_DONE, 4, DIVIDE(BPF_DIV, BPF_ALU, 0, 0x500000009, 0x700000002));
	ALL_WAYS(RUN_DONE, 0xffffffff, DIVIDE(BPF_MOD, BPF_ALU, 1, 0x1fffffff9, 2));
	/* In 64 bits all of them do. */
	ALL_WAYS(RUN_DONE, 3, DIVIDE(BPF_DIV, BPF_ALU64, 0, 0x900000009, 0x300000000));
	ALL_WAYS(RUN_DONE, 0x200000009, DIVIDE(BPF_MOD, BPF_ALU64, 0, 0x900000009, 0x700000000));
	ALL_WAYS(RUN_DONE, 0x40000000, MOV_K(0, 1 << 31),
		 INSN(BPF_ALU | BPF_DIV | BPF_K, 0, 0, 0, 2), EXIT());
	ALL_WAYS(RUN_DONE, -4ll, MOV_K(0, 4), INSN(BPF_ALU64 | BPF_DIV | BPF_K, 0, 0, 1, -1),
		 EXIT());
	ALL_WAYS(RUN_DONE, -4ll, MOV_K(0, 4), INSN(BPF_ALU64 | BPF_NEG, 0, 0, 0, 0), EXIT());
}

static void newer_instructions_are_lowered(void)
{
	ALL_WAYS(RUN_DONE, 0xffffffffffffff80, IMM64(1, 0x1280),
		 INSN(BPF_ALU64 | BPF_MOV | BPF_X, 0, 1, 8, 0), EXIT());
	ALL_WAYS(RUN_DONE, 0xffff8000, IMM64(1, 0x128000),
		 INSN(BPF_ALU | BPF_MOV | BPF_X, 0, 1, 16, 0), EXIT());
	ALL_WAYS(RUN_DONE, 0xffffffff80000000, IMM64(1, 0x1280000000),
		 INSN(BPF_ALU64 | BPF_MOV | BPF_X, 0, 1, 32, 0), EXIT());
	ALL_WAYS(RUN_DONE, 0x0807060504030201, IMM64(0, 0x0102030405060708),
		 INSN(BPF_ALU64 | BPF_END, 0, 0, 0, 64), EXIT());
	ALL_WAYS(RUN_DONE, 0x0807, IMM64(0, 0x0102030405060708),
		 INSN(BPF_ALU64 | BPF_END, 0, 0, 0, 16), EXIT());
	ALL_WAYS(RUN_DONE, 3, MOV_K(0, 3), INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 1), MOV_K(0, 4),
		 EXIT());
	/* Sign-extending loads: of the context, of the heap, of the spill frame. */
	ALL_WAYS(RUN_DONE, -2ll, STORE_K(BPF_W, 1, 0, -2), LOADS(BPF_W, 0, 1, 0), EXIT());
	ALL_WAYS(RUN_DONE, -2ll, IMM64(1, WORLD_HEAP_BASE), STORE_K(BPF_H, 1, 0, -2),
		 LOADS(BPF_H, 1, 1, 0), MOV_X(0, 1), EXIT());
	ALL_WAYS(RUN_DONE, -2ll, STORE_K(BPF_B, 10, -3, -2), LOADS(BPF_B, 0, 10, -3), EXIT());
}

static void accesses_reach_what_they_should(void)
{
	/* A register stored at itself, an immediate, and each size. */
	ALL_WAYS(RUN_DONE, 0, STORE(BPF_DW, 1, 8, 1), LOAD(BPF_DW, 0, 1, 8), ALU64_X(BPF_SUB, 0, 1),
		 EXIT());
	ALL_WAYS(RUN_DONE, 0x8182, STORE_K(BPF_DW, 1, -16, 0x7fff8182), LOAD(BPF_H, 0, 1, -16),
		 EXIT());
	ALL_WAYS(RUN_DONE, 7, MOV_K(0, 7), STORE(BPF_DW, 1, 0, 0), MOV_K(0, 0),
		 LOAD(BPF_B, 0, 1, 0), EXIT());
	ALL_WAYS(RUN_DONE, 12, MOV_K(2, 5), STORE_K(BPF_DW, 1, 0, 7),
		 ATOMIC(BPF_DW, BPF_ADD | BPF_FETCH, 1, 0, 2), LOAD(BPF_DW, 0, 1, 0), EXIT());
	ALL_WAYS(RUN_DONE, 7, MOV_K(0, 7), MOV_K(2, 5), STORE_K(BPF_W, 1, 0, 7),
		 ATOMIC(BPF_W, BPF_CMPXCHG, 1, 0, 2), EXIT());
	/* One that fetches nothing leaves its operand; at an offset; 8 bytes by a negative number. */
	ALL_WAYS(RUN_DONE, 5, MOV_K(2, 5), STORE_K(BPF_DW, 1, -16, 7),
		 ATOMIC(BPF_DW, BPF_ADD, 1, -16, 2), LOAD(BPF_DW, 3, 1, -16), MOV_X(0, 2), EXIT());
	ALL_WAYS(RUN_DONE, -2ll, STORE_K(BPF_DW, 1, 0, -2), LOAD(BPF_DW, 0, 1, 0), EXIT());
	ALL_WAYS(RUN_DONE, -2ll, IMM64(2, WORLD_HEAP_BASE), STORE_K(BPF_DW, 2, 0, -2),
		 LOAD(BPF_DW, 0, 2, 0), EXIT());
	ALL_WAYS(RUN_DONE, -2ll, STORE_K(BPF_DW, 10, -8, -2), LOAD(BPF_DW, 0, 10, -8), EXIT());
	/* Nothing is there. */
	ALL_WAYS(RUN_FAULT, 0, MOV_K(2, 0), LOAD(BPF_B, 0, 2, 0), EXIT());
	ALL_WAYS(RUN_FAULT, 0, IMM64(2, 0xffff888000000000), LOAD(BPF_DW, 0, 2, 8), EXIT());
	ALL_WAYS(RUN_FAULT, 0, IMM64(2, 0xffff888000000000), STORE_K(BPF_DW, 2, 8, 1), EXIT());
	ALL_WAYS(RUN_FAULT, 0, IMM64(2, 0x1234567800000000), ATOMIC(BPF_DW, BPF_ADD, 2, 0, 1),
		 EXIT());
	/* Across the end of the buffer. */
	ALL_WAYS(RUN_FAULT, 0, IMM64(2, LOW + 4092), LOAD(BPF_DW, 0, 2, 0), EXIT());
}

static void loops_calls_and_recursion_work(void)
{
	/* The sum of 1 to 100. */
	ALL_WAYS(RUN_DONE, 5050, MOV_K(2, 100), ALU64_X(BPF_ADD, 0, 2), ALU64_K(BPF_SUB, 2, 1),
		 JUMP_K(BPF_JNE, 2, 0, -3), EXIT());
	/* The same in 32 bits with jset, which has no opposite, and by recursion. */
	ALL_WAYS(RUN_DONE, 64, MOV_K(0, 0), ALU64_K(BPF_ADD, 0, 1), JUMP32_K(BPF_JSET, 0, 63, -2),
		 EXIT());
	ALL_WAYS(RUN_DONE, 55, MOV_K(1, 10), CALL_LOCAL(1), EXIT(),
		 /* 3 */ MOV_X(6, 1), STORE(BPF_DW, 10, -8, 6), MOV_K(0, 0),
		 JUMP_K(BPF_JEQ, 6, 0, 4), ALU64_K(BPF_ADD, 1, -1), CALL_LOCAL(-6),
		 LOAD(BPF_DW, 2, 10, -8), ALU64_X(BPF_ADD, 0, 2), EXIT());
	/* A callee's frame starts zeroed, the caller's is whole again. */
	ALL_WAYS(RUN_DONE, 42, STORE_K(BPF_DW, 10, -16, 42), CALL_LOCAL(3),
		 LOAD(BPF_DW, 1, 10, -16), ALU64_X(BPF_ADD, 0, 1), EXIT(),
		 /* 5 */ LOAD(BPF_DW, 0, 10, -16), STORE_K(BPF_DW, 10, -16, 7), EXIT());
	ALL_WAYS(RUN_STACK, 0, CALL_LOCAL(1), EXIT(), CALL_LOCAL(-1), EXIT());
	ALL_WAYS(RUN_TRAP, 0, CALL(COSY_OP_trap), EXIT());
	ALL_WAYS(RUN_TRAP, 0, CALL(COSY_OP_divide_error), EXIT());
	ALL_WAYS(RUN_LIMIT, 0, JUMP(-1));
	ALL_WAYS(RUN_LIMIT, 0, CALL(39), JUMP(-2));
	/* r1-r5 are 0 after a call. */
	ALL_WAYS(RUN_DONE, 0, MOV_K(2, 1), MOV_K(5, 1), CALL(39), MOV_X(0, 2),
		 ALU64_X(BPF_OR, 0, 5), ALU64_X(BPF_OR, 0, 1), EXIT());
}

/* --- Accesses that share a test ------------------------------------------------------ */

/*
 * Goes around twice, since accesses outside of a loop share no test; r6 is r1 + `start` at the
 * beginning of each round.
 */
#define TWICE(start, ...) MOV_K(9, 2), MOV_X(6, 1), ALU64_K(BPF_ADD, 6, start), __VA_ARGS__
#define AGAIN(count)	  ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -(count) - 4), EXIT()

/* r1 is 64 bytes into 4096, in the buffer or out of it; nothing is next to them. */
static void spans_end_where_memory_ends(void)
{
	/* All of it, up to the last byte and down to the first. */
	ALL_WAYS(RUN_DONE, 7,
		 TWICE(4024, STORE_K(BPF_DW, 6, 0, 1), STORE_K(BPF_B, 6, 7, 7),
		       LOAD(BPF_B, 0, 6, 7)),
		 AGAIN(3));
	ALL_WAYS(RUN_DONE, 7,
		 TWICE(-56, STORE_K(BPF_DW, 6, 0, 1), STORE_K(BPF_DW, 6, -8, 7),
		       LOAD(BPF_DW, 0, 6, -8)),
		 AGAIN(3));
	/* One byte further, on either side. */
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4025, STORE_K(BPF_B, 6, 0, 1), STORE_K(BPF_B, 6, 7, 7),
		       LOAD(BPF_B, 0, 6, 1)),
		 AGAIN(3));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(-56, LOAD(BPF_DW, 0, 6, 0), LOAD(BPF_DW, 2, 6, -8), LOAD(BPF_B, 3, 6, -9)),
		 AGAIN(3));
	/* A base that points outside, and one that is moved out. */
	ALL_WAYS(RUN_DONE, 7,
		 TWICE(4032, STORE_K(BPF_B, 6, -1, 7), LOAD(BPF_B, 2, 6, -3),
		       LOAD(BPF_B, 0, 6, -1)),
		 AGAIN(3));
	ALL_WAYS(RUN_DONE, 9,
		 TWICE(-65, STORE_K(BPF_B, 6, 1, 9), LOAD(BPF_B, 2, 6, 2), LOAD(BPF_B, 0, 6, 1)),
		 AGAIN(3));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4000, LOAD(BPF_DW, 2, 6, 0), ALU64_K(BPF_ADD, 6, 24), LOAD(BPF_DW, 0, 6, 0),
		       ALU64_K(BPF_ADD, 6, 1), LOAD(BPF_DW, 0, 6, 0)),
		 AGAIN(5));
	/* The leader crosses the end, with a follower below it; then a follower does. */
	ALL_WAYS(RUN_FAULT, 0, TWICE(4028, LOAD(BPF_DW, 0, 6, 0), LOAD(BPF_B, 0, 6, -8)), AGAIN(2));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4024, LOAD(BPF_DW, 0, 6, 0), LOAD(BPF_DW, 2, 6, -8), LOAD(BPF_DW, 2, 6, 1)),
		 AGAIN(3));
	/* From the first byte to the last. */
	ALL_WAYS(RUN_DONE, 3,
		 TWICE(-64, STORE_K(BPF_B, 6, 0, 3), STORE_K(BPF_B, 6, 4095, 4),
		       LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(3));
	/* The longest span, and one that is too long to be one. */
	ALL_WAYS(RUN_DONE, 5,
		 TWICE(0, STORE_K(BPF_B, 6, 0, 5), LOAD(BPF_B, 2, 6, 3999), LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(3));
	ALL_WAYS(RUN_DONE, 5,
		 TWICE(0, STORE_K(BPF_B, 6, 4000, 5), LOAD(BPF_B, 2, 6, -1),
		       LOAD(BPF_B, 3, 6, 4000), LOAD(BPF_B, 0, 6, 4000)),
		 AGAIN(4));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(0, LOAD(BPF_B, 2, 6, 3999), LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 4031),
		       LOAD(BPF_B, 2, 6, 4032)),
		 AGAIN(4));
	/* Around the end of all addresses. */
	ALL_WAYS(RUN_FAULT, 0, MOV_K(9, 2), MOV_K(6, 8), LOAD(BPF_B, 0, 6, -8),
		 LOAD(BPF_B, 2, 6, -9), AGAIN(2));
}

/* Only what is the same value by all ways may rely on a test. */
static void values_are_followed(void)
{
	/* 32 bits of an address, a product and a sign-extension are other values. */
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(0, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 1), ALU32_K(BPF_RSH, 6, 20),
		       LOAD(BPF_B, 2, 6, 1)),
		 AGAIN(4));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(0, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 1), ALU64_K(BPF_MUL, 6, 3),
		       LOAD(BPF_B, 2, 6, 1)),
		 AGAIN(4));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(0, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 1),
		       INSN(BPF_ALU64 | BPF_MOV | BPF_X, 7, 6, 8, 0), LOAD(BPF_B, 2, 7, 0)),
		 AGAIN(4));
	/* A loaded value is another; so is one that an atomic operation fetched. */
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(0, STORE_K(BPF_DW, 6, 0, 3), STORE_K(BPF_DW, 6, 8, 3), LOAD(BPF_DW, 6, 6, 0),
		       LOAD(BPF_DW, 2, 6, 0)),
		 AGAIN(4));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(0, STORE_K(BPF_DW, 6, 0, 3), STORE_K(BPF_DW, 6, 8, 3), MOV_X(7, 6),
		       ATOMIC(BPF_DW, BPF_XCHG, 6, 0, 7), LOAD(BPF_DW, 2, 7, 0)),
		 AGAIN(5));
	/* The same sum, in either order, is the same; another one is not. */
	ALL_WAYS(RUN_DONE, 4, MOV_K(9, 2), MOV_K(7, 16), MOV_X(6, 1), ALU64_X(BPF_ADD, 6, 7),
		 STORE_K(BPF_B, 6, 1, 4), MOV_X(8, 7), ALU64_X(BPF_ADD, 8, 1), LOAD(BPF_B, 0, 8, 1),
		 ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -9), EXIT());
	ALL_WAYS(RUN_FAULT, 0, MOV_K(9, 2), LOAD(BPF_B, 7, 10, -8), MOV_X(6, 1),
		 ALU64_X(BPF_ADD, 6, 7), LOAD(BPF_B, 2, 6, 1), MOV_X(8, 6), ALU64_X(BPF_ADD, 8, 6),
		 LOAD(BPF_B, 0, 8, 1), ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -9), EXIT());
	/* A constant is as near another as their difference. */
	ALL_WAYS(RUN_DONE, 0, MOV_K(9, 2), IMM64(6, WORLD_HEAP_BASE), LOAD(BPF_B, 2, 6, 0),
		 IMM64(7, WORLD_HEAP_BASE + 4095), LOAD(BPF_B, 2, 7, 0), MOV_K(0, 0),
		 ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -9), EXIT());
}

/* Copies a register so that the copy counts as another value. */
#define UNKNOWN(dst, src) MOV_X(dst, src), ALU64_K(BPF_LSH, dst, 1), ALU64_K(BPF_RSH, dst, 1)

/*
 * A test that may have been jumped over counts for no access; nor does a value that two ways left
 * different.
 */
static void ways_meet(void)
{
	/* A jump over the leader; one into the middle from before the piece. */
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4032, JUMP_K(BPF_JNE, 9, 0, 2), LOAD(BPF_B, 2, 6, -8), LOAD(BPF_B, 2, 6, -4),
		       LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(4));
	ALL_WAYS(RUN_FAULT, 0, MOV_K(9, 2), MOV_X(6, 1), ALU64_K(BPF_ADD, 6, 4032),
		 JUMP_K(BPF_JEQ, 9, 2, 2), CALL(39), LOAD(BPF_B, 2, 6, -8), LOAD(BPF_B, 2, 6, 0),
		 AGAIN(3));
	/* A jump from before the piece to where a jump of the piece leads as well. */
	ALL_WAYS(RUN_FAULT, 0, MOV_K(9, 2), MOV_X(6, 1), ALU64_K(BPF_ADD, 6, 4032),
		 JUMP_K(BPF_JEQ, 9, 2, 4), CALL(39), LOAD(BPF_B, 2, 6, -8),
		 JUMP_K(BPF_JEQ, 9, 7, 1), LOAD(BPF_B, 2, 6, -16), LOAD(BPF_B, 2, 6, 0), AGAIN(6));
	/*
	 * The way that is taken has the base out of memory; the other one, or the first access,
	 * has not.
	 */
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4032, LOAD(BPF_B, 2, 6, -8), LOAD(BPF_B, 2, 6, -16),
		       JUMP_K(BPF_JNE, 9, 0, 1), ALU64_K(BPF_ADD, 6, -8), LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(5));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4024, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, -8), JUMP_K(BPF_JEQ, 9, 0, 2),
		       ALU64_K(BPF_ADD, 6, 8), JUMP(0), LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(6));
	/* One way moves the base out of memory; the other one is never taken. */
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4024, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 1), JUMP_K(BPF_JEQ, 9, 0, 1),
		       ALU64_K(BPF_ADD, 6, 8), LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(5));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4024, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 1), JUMP_K(BPF_JNE, 9, 0, 2),
		       MOV_X(6, 1), JUMP(1), ALU64_K(BPF_ADD, 6, 8), LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(7));
	/*
	 * AX holds another value after one of the ways, or one for another byte, or for another
	 * base.
	 */
#define TWO_WAYS(op, count, ...)                                                                   \
	TWICE(8, UNKNOWN(7, 6), ALU64_K(BPF_ADD, 7, 256), MOV_X(8, 6), ALU64_K(BPF_ADD, 8, 4),     \
	      STORE_K(BPF_W, 6, 0, 0x4030201), STORE_K(BPF_W, 7, 0, 0x8070605),                    \
	      STORE_K(BPF_B, 8, 0, 9), LOAD(BPF_B, 3, 7, 0), LOAD(BPF_B, 3, 6, 1),                 \
	      JUMP_K(op, 9, 1, count), __VA_ARGS__, LOAD(BPF_B, 0, 6, 1), LOAD(BPF_B, 3, 8, 0),    \
	      ALU64_X(BPF_ADD, 0, 3)),                                                             \
		AGAIN(15 + (count))
	ALL_WAYS(RUN_DONE, 11, TWO_WAYS(BPF_JEQ, 2, LOAD(BPF_B, 3, 7, 1), LOAD(BPF_B, 3, 7, 2)));
	ALL_WAYS(RUN_DONE, 11, TWO_WAYS(BPF_JNE, 2, LOAD(BPF_B, 3, 7, 1), LOAD(BPF_B, 3, 7, 2)));
	ALL_WAYS(RUN_DONE, 11, TWO_WAYS(BPF_JEQ, 2, LOAD(BPF_B, 3, 7, 1), LOAD(BPF_B, 3, 8, 0)));
	ALL_WAYS(RUN_DONE, 11, TWO_WAYS(BPF_JNE, 2, LOAD(BPF_B, 3, 7, 1), LOAD(BPF_B, 3, 8, 0)));
	ALL_WAYS(RUN_DONE, 11, TWO_WAYS(BPF_JEQ, 2, LOAD(BPF_B, 3, 7, 1), JUMP(0)));
	ALL_WAYS(RUN_DONE, 11,
		 TWO_WAYS(BPF_JEQ, 3, LOAD(BPF_B, 3, 7, 1), LOAD(BPF_B, 3, 8, 0), JUMP(0)));
	ALL_WAYS(RUN_DONE, 11,
		 TWO_WAYS(BPF_JNE, 3, LOAD(BPF_B, 3, 7, 1), LOAD(BPF_B, 3, 8, 0), JUMP(0)));
	/* A jump that is always taken comes between; AX is lost, or another's, at a second jump. */
	ALL_WAYS(RUN_DONE, 11, TWO_WAYS(BPF_JEQ, 2, JUMP(0), LOAD(BPF_B, 3, 7, 1)));
	ALL_WAYS(RUN_DONE, 11, TWO_WAYS(BPF_JNE, 2, JUMP(0), LOAD(BPF_B, 3, 7, 1)));
	ALL_WAYS(RUN_DONE, 11,
		 TWO_WAYS(BPF_JNE, 3, LOAD(BPF_B, 3, 7, 1), JUMP_K(BPF_JEQ, 9, 1, 1),
			  LOAD(BPF_B, 3, 6, 2)));
	ALL_WAYS(RUN_DONE, 11,
		 TWO_WAYS(BPF_JNE, 3, INSN(BPF_ALU64 | BPF_DIV | BPF_X, 4, 9, 1, 0),
			  JUMP_K(BPF_JEQ, 9, 1, 1), LOAD(BPF_B, 3, 6, 2)));
	/* Only a jump leads to where AX is what it was at the jump. */
	ALL_WAYS(RUN_DONE, 6,
		 TWICE(8, UNKNOWN(7, 6), ALU64_K(BPF_ADD, 7, 256), STORE_K(BPF_W, 6, 0, 0x4030201),
		       STORE_K(BPF_W, 7, 0, 0x8070605), LOAD(BPF_B, 3, 7, 0), LOAD(BPF_B, 3, 6, 1),
		       MOV_K(0, 0), JUMP_K(BPF_JEQ, 9, 1, 2), LOAD(BPF_B, 3, 7, 1), JUMP(1),
		       LOAD(BPF_B, 0, 7, 1)),
		 AGAIN(13));
	/* Two ways that agree. */
	ALL_WAYS(RUN_DONE, 6,
		 TWICE(4024, STORE_K(BPF_B, 6, 7, 6), JUMP_K(BPF_JNE, 9, 0, 2),
		       ALU64_K(BPF_ADD, 6, 7), JUMP(1), ALU64_K(BPF_ADD, 6, 7),
		       LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(6));
}

/*
 * Edges back leave a piece, or begin it anew: what is known after one that is not taken is what was
 * known before, and what is known where it leads is nothing.
 */
static void edges_lead_back(void)
{
	/* One that is never taken, to above the piece, and one from its middle to its beginning. */
	ALL_WAYS(RUN_DONE, 5,
		 TWICE(8, STORE_K(BPF_W, 6, 0, 0x04030201), LOAD(BPF_B, 0, 6, 0),
		       JUMP_K(BPF_JEQ, 9, 7, -5), LOAD(BPF_B, 2, 6, 3), ALU64_X(BPF_ADD, 0, 2)),
		 AGAIN(5));
	ALL_WAYS(RUN_DONE, 0x0804, MOV_K(9, 3), MOV_X(6, 1),
		 /* 2 */ STORE_K(BPF_B, 6, 0, 4), ALU64_K(BPF_ADD, 6, 1), ALU64_K(BPF_ADD, 9, -1),
		 JUMP_K(BPF_JNE, 9, 0, -4), STORE_K(BPF_B, 6, 0, 8), LOAD(BPF_H, 0, 6, -1),
		 JUMP_K(BPF_JEQ, 9, 7, -7), EXIT());
	/* Each round a byte further, to where the memory ends, in the middle of a piece. */
	ALL_WAYS(RUN_FAULT, 0, MOV_K(9, 9), MOV_X(6, 1), ALU64_K(BPF_ADD, 6, 4028),
		 /* 3 */ LOAD(BPF_B, 2, 6, 0), ALU64_K(BPF_ADD, 6, 1), ALU64_K(BPF_ADD, 9, -1),
		 JUMP_K(BPF_JNE, 9, 0, -4), LOAD(BPF_B, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 7, -6),
		 EXIT());
	/* The base moves out after an edge that is not taken; a leader is only after it. */
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4024, LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 1), JUMP_K(BPF_JEQ, 9, 7, -5),
		       ALU64_K(BPF_ADD, 6, 8), LOAD(BPF_B, 0, 6, 0)),
		 AGAIN(5));
	ALL_WAYS(RUN_FAULT, 0,
		 TWICE(4024, JUMP_K(BPF_JNE, 9, 0, 2), LOAD(BPF_B, 2, 6, 0),
		       JUMP_K(BPF_JEQ, 9, 7, -5), LOAD(BPF_B, 2, 6, 8), LOAD(BPF_B, 2, 6, 9)),
		 AGAIN(5));
	/* Slow in the first rounds, in memory and fast in the last, by an edge in the middle. */
	ALL_WAYS(RUN_DONE, 6, MOV_K(9, 4), IMM64(6, WORLD_HEAP_BASE + 8),
		 /* 3 */ STORE_K(BPF_B, 6, 0, 5), LOAD(BPF_B, 0, 6, 0), ALU64_K(BPF_ADD, 9, -1),
		 JUMP_K(BPF_JSGT, 9, 2, -4), MOV_X(6, 1), JUMP_K(BPF_JSGT, 9, 0, -6),
		 STORE_K(BPF_B, 6, 1, 1), LOAD(BPF_B, 2, 6, 1), ALU64_X(BPF_ADD, 0, 2), EXIT());
	/* An edge that is always taken; only a jump of the piece leads past it. */
	ALL_WAYS(RUN_DONE, 9,
		 TWICE(8, STORE_K(BPF_H, 6, 0, 0x0302), LOAD(BPF_B, 0, 6, 0),
		       JUMP_K(BPF_JNE, 9, 7, 1), JUMP(-6), LOAD(BPF_B, 2, 6, 1),
		       ALU64_X(BPF_ADD, 0, 2), ALU64_X(BPF_ADD, 0, 2), ALU64_K(BPF_ADD, 0, 1)),
		 AGAIN(8));
}

/* Where one test fails the others count no more, up to where no access relies on any. */
static void slow_copies_are_whole(void)
{
	/* Another group begins and ends within the slow copy. */
	ALL_WAYS(RUN_DONE, 5, MOV_K(9, 2), UNKNOWN(7, 1), IMM64(6, WORLD_HEAP_BASE + 8),
		 STORE_K(BPF_B, 6, 0, 5), LOAD(BPF_B, 2, 7, 0), LOAD(BPF_B, 2, 7, 1),
		 LOAD(BPF_B, 0, 6, 0), ALU64_K(BPF_ADD, 9, -1), JUMP_K(BPF_JNE, 9, 0, -6), EXIT());
	/* Jumps within the copy, and to right after it. */
	ALL_WAYS(RUN_DONE, 6, MOV_K(9, 2), IMM64(6, WORLD_HEAP_BASE + 8), STORE_K(BPF_B, 6, 7, 6),
		 JUMP_K(BPF_JNE, 9, 0, 1), LOAD(BPF_B, 2, 6, 1), LOAD(BPF_B, 0, 6, 7),
		 JUMP_K(BPF_JNE, 9, 0, 1), LOAD(BPF_B, 2, 6, 1), ALU64_K(BPF_ADD, 9, -1),
		 JUMP_K(BPF_JNE, 9, 0, -8), EXIT());
}

/* Other uses of AX come between: another base, a division, a hidden constant, a lent register. */
static void bases_take_turns(void)
{
	ALL_WAYS(RUN_DONE, 15,
		 TWICE(8, IMM64(7, WORLD_HEAP_BASE), STORE_K(BPF_W, 6, 4, 0x12345678),
		       STORE_K(BPF_W, 7, 4, 1), LOAD(BPF_W, 2, 6, 4), LOAD(BPF_W, 3, 7, 4),
		       STORE_K(BPF_DW, 6, 8, 5), STORE_K(BPF_DW, 7, 8, 9), LOAD(BPF_DW, 0, 6, 8),
		       LOAD(BPF_DW, 2, 7, 8), ALU64_K(BPF_XOR, 2, 0), ALU64_X(BPF_ADD, 0, 2),
		       ALU64_X(BPF_ADD, 0, 3)),
		 AGAIN(13));
	ALL_WAYS(RUN_DONE, 100,
		 TWICE(8, STORE_K(BPF_DW, 6, 8, 700), STORE_K(BPF_DW, 6, 16, 7),
		       LOAD(BPF_DW, 0, 6, 8), LOAD(BPF_DW, 2, 6, 16),
		       INSN(BPF_ALU64 | BPF_DIV | BPF_X, 0, 2, 1, 0), STORE(BPF_DW, 6, 24, 0),
		       LOAD(BPF_DW, 0, 6, 24)),
		 AGAIN(7));
	/* Two bases of the buffer, and one that comes again from above, or below, or far away. */
	ALL_WAYS(RUN_DONE, 0x0403,
		 TWICE(8, UNKNOWN(7, 6), ALU64_K(BPF_ADD, 7, 256), STORE_K(BPF_B, 6, 0, 1),
		       STORE_K(BPF_B, 7, 8, 2), STORE_K(BPF_B, 6, 1, 3), STORE_K(BPF_B, 7, 9, 4),
		       STORE_K(BPF_B, 6, -8, 5), STORE_K(BPF_B, 7, 0, 6), STORE_K(BPF_B, 6, 2, 4),
		       STORE_K(BPF_B, 6, -7, 5), LOAD(BPF_H, 0, 6, 1)),
		 AGAIN(13));
	ALL_WAYS(RUN_DONE, 7,
		 TWICE(8, UNKNOWN(7, 6), MOV_X(8, 6), ALU64_K(BPF_ADD, 8, -3000),
		       STORE_K(BPF_B, 6, 999, 7), STORE_K(BPF_B, 6, 0, 1),
		       STORE_K(BPF_B, 6, 1500, 1), STORE_K(BPF_B, 7, 8, 2),
		       LOAD(BPF_B, 0, 8, 3999)),
		 AGAIN(10));
	/*
	 * The leader borrows r0, or r1 where r0 is its base; that is whole again on the slow path.
	 */
	ALL_WAYS(RUN_DONE, 42,
		 TWICE(0, MOV_K(0, 42), IMM64(7, WORLD_HEAP_BASE), STORE_K(BPF_W, 7, 0, 0x7654321),
		       STORE_K(BPF_W, 7, 4, 0x7654321)),
		 AGAIN(5));
	ALL_WAYS(RUN_DONE, 0,
		 TWICE(0, MOV_X(0, 6), IMM64(7, WORLD_HEAP_BASE), STORE_K(BPF_W, 0, 0, 0x7654321),
		       STORE_K(BPF_W, 0, 4, 0x7654321), STORE(BPF_DW, 0, 8, 0),
		       LOAD(BPF_DW, 0, 0, 8), ALU64_X(BPF_SUB, 0, 6)),
		 AGAIN(8));
	ALL_WAYS(RUN_DONE, -2ll,
		 TWICE(0, STORE_K(BPF_B, 6, 0, -2), STORE_K(BPF_H, 6, 2, 3), LOADS(BPF_B, 0, 6, 0)),
		 AGAIN(3));
}

/* --- Cost --------------------------------------------------------------------------------- */

static bool copies_ax; /* in the code whose cost is counted */

static u64 executed(u64 user_base, const struct bpf_insn *insns, u32 count)
{
	struct differential d = setting(user_base);

	d.how.based = user_base == BASED;
	d.how.copies_ax = copies_ax;
	run(&d, insns, count);
	CHECK_EQ(d.outcome, RUN_DONE);
	return d.executed;
}

/*
 * Returns the BPF instructions that a buffer access adds; the JIT makes one x86 instruction of
 * each.
 */
static u64 added(u64 user_base, struct bpf_insn access)
{
	struct bpf_insn with[] = {MOV_X(6, 1), access, EXIT()};
	struct bpf_insn without[] = {MOV_X(6, 1), EXIT()};

	/* Less the access itself; a compare with its jump makes two. */
	return executed(user_base, with, 3) - executed(user_base, without, 2) - 1 + 1;
}

static void buffer_accesses_are_cheap(void)
{
	CHECK(added(LOW, LOAD(BPF_DW, 2, 6, 8)) <= 8);
	CHECK(added(LOW, LOAD(BPF_B, 6, 6, 8)) <= 8);
	CHECK(added(LOW, STORE(BPF_DW, 6, 8, 2)) <= 8);
	CHECK(added(LOW, STORE_K(BPF_W, 6, 8, 5)) <= 8);
	CHECK(added(HIGH, LOAD(BPF_DW, 2, 6, 8)) <= 8);
	CHECK(added(HIGH, STORE(BPF_DW, 6, 8, 2)) <= 10);
	CHECK(added(BASED, LOAD(BPF_DW, 2, 6, 8)) <= 6);
	CHECK(added(BASED, STORE(BPF_DW, 6, 8, 2)) <= 6);
	CHECK(added(BASED, STORE_K(BPF_W, 6, 8, 5)) <= 6);
	/* A register that is dead stands for AX. */
	copies_ax = true;
	CHECK(added(BASED, LOAD(BPF_DW, 2, 6, 8)) <= 6);
	CHECK(added(BASED, LOAD(BPF_DW, 6, 6, 8)) <= 6);
	CHECK(added(BASED, STORE(BPF_DW, 6, 8, 2)) <= 6);
	CHECK(added(BASED, STORE(BPF_DW, 6, 8, 6)) <= 6);
	CHECK(added(BASED, STORE_K(BPF_W, 6, 8, 5)) <= 6);
	copies_ax = false;
}

/* All ten registers have values that are read later: what an access borrows it gives back. */
#define FILL                                                                                       \
	MOV_X(6, 1), MOV_K(0, 1), MOV_K(1, 2), MOV_K(2, 4), MOV_K(3, 8), MOV_K(4, 16),             \
		MOV_K(5, 32), MOV_K(7, 64), MOV_K(8, 128), MOV_K(9, 256)
#define SUM                                                                                        \
	ALU64_X(BPF_ADD, 0, 1), ALU64_X(BPF_ADD, 0, 2), ALU64_X(BPF_ADD, 0, 3),                    \
		ALU64_X(BPF_ADD, 0, 4), ALU64_X(BPF_ADD, 0, 5), ALU64_X(BPF_ADD, 0, 7),            \
		ALU64_X(BPF_ADD, 0, 8), ALU64_X(BPF_ADD, 0, 9)

/* Returns the instructions of an access between the two. */
static u64 added_among_live(struct bpf_insn access)
{
	const struct bpf_insn with[] = {FILL, access, SUM, MOV_X(2, 6), EXIT()};
	const struct bpf_insn without[] = {FILL, SUM, MOV_X(2, 6), EXIT()};

	return executed(BASED, with, COUNT(with)) - executed(BASED, without, COUNT(without));
}

static void live_registers_are_kept(void)
{
	copies_ax = true;
	CHECK_EQ(added_among_live(STORE_K(BPF_DW, 6, 8, 7)), 9);
	CHECK_EQ(added_among_live(STORE(BPF_DW, 6, 8, 3)), 9);
	CHECK_EQ(added_among_live(STORE(BPF_DW, 6, 8, 6)), 9);
	CHECK_EQ(added_among_live(LOAD(BPF_DW, 6, 6, 8)), 7);
	copies_ax = false;
	ALL_WAYS(RUN_DONE, 511, FILL, STORE_K(BPF_DW, 6, 8, 7), SUM, EXIT());
	ALL_WAYS(RUN_DONE, 511, FILL, STORE(BPF_DW, 6, 8, 3), SUM, EXIT());
	ALL_WAYS(RUN_DONE, 511 + 256, FILL, STORE(BPF_DW, 6, 8, 9), LOAD(BPF_DW, 6, 6, 8), SUM,
		 ALU64_X(BPF_ADD, 0, 6), EXIT());
	/* In a loop, whose accesses share a test. */
	ALL_WAYS(RUN_DONE, 511 + 255, FILL, STORE_K(BPF_DW, 6, 8, 7), STORE(BPF_DW, 6, 16, 3),
		 STORE(BPF_DW, 6, 24, 0), SUM, ALU64_K(BPF_SUB, 9, 255), JUMP_K(BPF_JEQ, 9, 1, -13),
		 EXIT());
}

/* A register is dead from where it is read last to where it is written next. */
static void dead_registers_are_used_while_dead(void)
{
	/* r2 is read after the stores, by each kind of instruction that reads it. */
	ALL_WAYS(RUN_DONE, 5, MOV_K(2, 5), STORE_K(BPF_DW, 1, 8, 7), MOV_X(0, 2), EXIT());
	ALL_WAYS(RUN_DONE, 5, MOV_K(2, 5), STORE_K(BPF_DW, 1, 8, 7), STORE(BPF_DW, 10, -8, 2),
		 LOAD(BPF_DW, 0, 10, -8), EXIT());
	ALL_WAYS(RUN_DONE, 7, MOV_X(2, 1), STORE_K(BPF_DW, 1, 8, 7), LOAD(BPF_DW, 0, 2, 8), EXIT());
	ALL_WAYS(RUN_DONE, 9, MOV_K(2, 5), STORE_K(BPF_DW, 1, 8, 7), JUMP_K(BPF_JNE, 2, 5, 2),
		 MOV_K(0, 9), EXIT(), MOV_K(0, 1), EXIT());
	/* On one way alone, and around a loop. */
	ALL_WAYS(RUN_DONE, 5, MOV_K(2, 5), STORE_K(BPF_DW, 1, 8, 7), MOV_K(0, 0),
		 JUMP_K(BPF_JEQ, 0, 0, 1), MOV_K(2, 1), MOV_X(0, 2), EXIT());
	ALL_WAYS(RUN_DONE, 10, MOV_K(9, 2), MOV_K(0, 0), MOV_K(2, 5), ALU64_X(BPF_ADD, 0, 2),
		 STORE_K(BPF_DW, 1, 8, 7), STORE_K(BPF_DW, 1, 16, 7), ALU64_K(BPF_ADD, 9, -1),
		 JUMP_K(BPF_JNE, 9, 0, -5), EXIT());
	/* By what is called, and after it. */
	ALL_WAYS(RUN_DONE, 5, MOV_K(2, 5), STORE_K(BPF_DW, 1, 8, 7), CALL_LOCAL(1), EXIT(),
		 MOV_X(0, 2), EXIT());
	ALL_WAYS(RUN_DONE, 5, MOV_K(6, 5), STORE_K(BPF_DW, 1, 8, 7), CALL(COSY_NR_getpid),
		 MOV_X(0, 6), EXIT());
	ALL_WAYS(RUN_DONE, 5, MOV_K(6, 5), STORE_K(BPF_DW, 1, 8, 7), CALL_LOCAL(2), MOV_X(0, 6),
		 EXIT(), STORE_K(BPF_DW, 1, 8, 7), MOV_K(6, 1), EXIT());
}

static u64 executed_around(const struct bpf_insn *body, u32 count)
{
	struct bpf_insn insns[40] = {MOV_K(9, 100), MOV_X(6, 1), MOV_X(7, 1)};

	memcpy(&insns[3], body, count * sizeof(*body));
	insns[count + 3] = ALU64_K(BPF_ADD, 9, -1);
	insns[count + 4] = JUMP_K(BPF_JNE, 9, 0, -(s32)count - 4);
	insns[count + 5] = EXIT();
	return executed(BASED, insns, count + 6);
}

/* Returns what the last access of a loop's body adds to each round. */
static u64 added_last(const struct bpf_insn *body, u32 count)
{
	return (executed_around(body, count) - executed_around(body, count - 1)) / 100;
}

static void followers_are_cheaper(void)
{
	const struct bpf_insn same[] = {LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 1),
					LOAD(BPF_B, 3, 6, 2)};
	const struct bpf_insn stores[] = {LOAD(BPF_B, 2, 6, 0), STORE(BPF_B, 6, 1, 2),
					  STORE_K(BPF_B, 6, 2, 7)};
	const struct bpf_insn turns[] = {MOV_K(8, 0),	       ALU64_X(BPF_ADD, 7, 9),
					 LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 2, 6, 1),
					 LOAD(BPF_B, 2, 7, 0), LOAD(BPF_B, 3, 6, 2)};
	/* After two ways of which neither changes AX, and of which one does. */
	const struct bpf_insn ways[] = {LOAD(BPF_B, 2, 6, 0), JUMP_K(BPF_JEQ, 9, 0, 1), MOV_K(3, 1),
					LOAD(BPF_B, 3, 6, 1), LOAD(BPF_B, 3, 6, 2)};
	const struct bpf_insn other[] = {
		MOV_K(8, 0),	      ALU64_X(BPF_ADD, 7, 9),	LOAD(BPF_B, 2, 6, 0),
		LOAD(BPF_B, 2, 6, 1), JUMP_K(BPF_JEQ, 9, 0, 1), LOAD(BPF_B, 2, 7, 0),
		LOAD(BPF_B, 3, 6, 2)};
	/* After an edge back that is not taken. */
	const struct bpf_insn edge[] = {LOAD(BPF_B, 2, 6, 0), LOAD(BPF_B, 3, 6, 1),
					JUMP_K(BPF_JEQ, 9, 0, -5), LOAD(BPF_B, 3, 6, 2)};

	CHECK_EQ(added_last(edge, COUNT(edge)), 1);
	CHECK_EQ(added_last(same, COUNT(same)), 1);
	CHECK_EQ(added_last(stores, COUNT(stores)), 1);
	CHECK_EQ(added_last(turns, COUNT(turns)), 4);
	CHECK_EQ(added_last(ways, COUNT(ways)), 1);
	CHECK_EQ(added_last(other, COUNT(other)), 4);
	copies_ax = true;
	CHECK_EQ(added_last(edge, COUNT(edge)), 1);
	CHECK_EQ(added_last(same, COUNT(same)), 1);
	CHECK_EQ(added_last(stores, COUNT(stores)), 1);
	CHECK_EQ(added_last(turns, COUNT(turns)), 4);
	CHECK_EQ(added_last(ways, COUNT(ways)), 1);
	CHECK_EQ(added_last(other, COUNT(other)), 4);
	copies_ax = false;
}

/* --- Sizes ------------------------------------------------------------------------------ */

static u32 large_program(struct bpf_insn *insns, u32 count)
{
	u32 at = 0;

	/* Twice around a body that is too long for a 16-bit jump once it is sandboxed. */
	insns[at++] = MOV_X(6, 1);
	insns[at++] = MOV_K(7, 2);
	while (at < count - 4)
		insns[at++] = LOAD(BPF_DW, 2, 6, 8);
	insns[at++] = ALU64_K(BPF_ADD, 7, -1);
	insns[at] = JUMP_K(BPF_JEQ, 7, 0, 1);
	at++;
	insns[at] = INSN(BPF_JMP32 | BPF_JA, 0, 0, 0, 1 - (s32)at);
	at++;
	insns[at++] = EXIT();
	return at;
}

static void far_jumps_need_v4(void)
{
	struct bpf_insn *insns = calloc(COSY_MAX_INSNS, sizeof(*insns));
	struct cosy_validated program;
	struct differential d;
	u32 count;

	MUST(insns);
	count = large_program(insns, COSY_MAX_INSNS);
	program = validated(insns, count);

	d = setting(LOW);
	d.max_grant = 1;
	d.leave_every = 1;
	CHECK(differential_run(&d, &program));
	CHECK(d.rewritten > 100000);
	CHECK_EQ(d.outcome, RUN_DONE);

	d.how.has_v4 = false;
	CHECK(differential_run(&d, &program));
	CHECK_EQ(d.outcome, RUN_DONE);
	d.how.has_gotol = false;
	CHECK(!differential_run(&d, &program));
	CHECK(strstr(d.problem, "out of this kernel's jump range"));
	cosy_validated_deinit(&program);
	free(insns);
}

static void the_same_input_gives_the_same_code(void)
{
	struct bpf_insn insns[] = {IMM64(2, 0x1234567812345678), STORE_K(BPF_DW, 1, 0, 77777),
				   EXIT()};
	struct cosy_validated program = validated(insns, COUNT(insns));
	struct cosy_sandbox how = {.user_base = HIGH,
				   .kernel_base = 0xffffc90000000000,
				   .size = 4096,
				   .blind = true,
				   .seed = 5,
				   .thunks = checker_thunks};
	struct cosy_code first, second, other;

	MUST(!cosy_sandbox(&program, &how, &first, NULL));
	MUST(!cosy_sandbox(&program, &how, &second, NULL));
	how.seed = 6;
	MUST(!cosy_sandbox(&program, &how, &other, NULL));
	CHECK_EQ(first.insn_cnt, second.insn_cnt);
	CHECK(!memcmp(first.insns, second.insns, first.insn_cnt * sizeof(*first.insns)));
	CHECK(memcmp(first.insns, other.insns, first.insn_cnt * sizeof(*first.insns)));
	core_free(first.insns);
	core_free(second.insns);
	core_free(other.insns);
	cosy_validated_deinit(&program);
}

/* The next process that loads the program, wherever its buffer is, may have the same code. */
static void based_code_knows_no_address(bool copies)
{
	struct bpf_insn insns[] = {LOAD(BPF_DW, 2, 1, 8), STORE(BPF_W, 1, 16, 2),
				   STORE_K(BPF_B, 1, 0, 7), EXIT()};
	struct cosy_validated program = validated(insns, COUNT(insns));
	struct cosy_sandbox how = {.user_base = HIGH,
				   .kernel_base = 0xffffc90000000000,
				   .size = 4096,
				   .has_v4 = true,
				   .based = true,
				   .copies_ax = copies,
				   .thunks = checker_thunks};
	struct cosy_code first, second;

	MUST(!cosy_sandbox(&program, &how, &first, NULL));
	how.user_base = LOW;
	how.kernel_base = 0xffffc90012345000;
	MUST(!cosy_sandbox(&program, &how, &second, NULL));
	CHECK_EQ(first.based_cnt, 3);
	CHECK_EQ(first.insn_cnt, second.insn_cnt);
	CHECK(!memcmp(first.insns, second.insns, first.insn_cnt * sizeof(*first.insns)));
	core_free(first.insns);
	core_free(second.insns);
	cosy_validated_deinit(&program);
}

int main(void)
{
	division_follows_the_rfc();
	newer_instructions_are_lowered();
	accesses_reach_what_they_should();
	loops_calls_and_recursion_work();
	spans_end_where_memory_ends();
	values_are_followed();
	ways_meet();
	edges_lead_back();
	slow_copies_are_whole();
	bases_take_turns();
	buffer_accesses_are_cheap();
	live_registers_are_kept();
	dead_registers_are_used_while_dead();
	followers_are_cheaper();
	far_jumps_need_v4();
	the_same_input_gives_the_same_code();
	based_code_knows_no_address(false);
	based_code_knows_no_address(true);
	return check_result();
}
