/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * checker.h - runs rewritten code as the JIT and cosy.ko would, and watches it.
 *
 * Every access must lie in the code's own frame or in the kernel's mapping of the shared buffer.
 * Only thunks are called, each with what its contract asks for.  Nothing that the JIT leaves
 * undefined is done.  Each round of a loop spends fuel.  And no value made from a kernel address
 * or from uninitialised stack is in a register or slot wherever a thunk could save it.
 *
 * Nor is any of this needed to keep an access in its memory: a processor may mispredict each
 * branch, and read from the frame what an earlier store has not overwritten yet.
 */
#ifndef COSY_TEST_CHECKER_H
#define COSY_TEST_CHECKER_H

#include "emit.h"
#include "world.h"

/* A call of this number + i is one of the tested sandbox's thunks[i]. */
enum { CHECKER_THUNK_BASE = 0x100 };
extern const s32 checker_thunks[COSY_THUNK_CNT];

struct checker {
	/* Set by the caller. */
	const struct cosy_validated *program;
	const struct cosy_code *code;
	const struct cosy_sandbox *how;
	struct world *world;
	u64 limit;	 /* of steps, counted in entry.state.steps */
	u64 chance;	 /* seed of when to leave and how much fuel to grant */
	u32 leave_every; /* leave at about one in so many chances; 0: never */
	u32 fault_every; /* the same for accesses that could have been made */
	u32 max_grant;	 /* fuel between safepoints, 1 or more */
	bool starved;	 /* each run starts without fuel */
	/* Call that each pop gives, as if nothing had checked it, unless NULL. */
	const u64 *popped;

	/* In and out: where to start (entry.resume), the state there and afterwards. */
	struct cosy_entry entry;
	u32 at;		     /* out: the instruction it stands before */
	char violation[200]; /* out, with RUN_VIOLATION */
	u64 fast, slow;	     /* out: accesses by the mask and by a thunk */
	u64 executed;	     /* out: instructions, all runs together */

	/* The machine. */
	u64 reg[12];
	u16 tainted; /* registers with a kernel value or undefined */
	u8 frame[COSY_SLOT_SIZE + COSY_FRAME_SIZE];
	u8 defined[COSY_SLOT_SIZE + COSY_FRAME_SIZE]; /* per byte; 0 also when tainted */
	/* What the frame held before its latest stores, and when (in `executed`) they were. */
	u8 stale[COSY_SLOT_SIZE + COSY_FRAME_SIZE];
	u8 was_defined[COSY_SLOT_SIZE + COSY_FRAME_SIZE];
	u64 stored[COSY_SLOT_SIZE + COSY_FRAME_SIZE];
	u8 predicted; /* enum prediction, while it speculates */
	s64 granted;
	u32 pc, steps;
};

enum outcome checker_run(struct checker *c);

/* Returns how many words of the frame the program's largest function needs. */
u32 checker_frame_words(const struct cosy_validated *program);

/* Looks at the code without running it (lint.c).  NULL, or what in it no JIT should be given. */
const char *checker_lint(const struct cosy_code *code, const struct cosy_sandbox *how);
/*
 * Looks for the program's constants in its blinded code.  NULL, or what of them is there whatever
 * the seed.
 */
const char *checker_lint_blind(const struct cosy_validated *program,
			       const struct cosy_sandbox *how);

#endif /* COSY_TEST_CHECKER_H */
