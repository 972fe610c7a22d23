/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * differential.h - the oracle: rewritten code, left and resumed at will, gives
 * what the program gives, and never does what the checker forbids.
 */
#ifndef COSY_TEST_DIFFERENTIAL_H
#define COSY_TEST_DIFFERENTIAL_H

#include "checker.h"

struct differential {
	struct cosy_sandbox how;		 /* thunks and kernel_base are filled in */
	u64 seed;				 /* of memory, answers and leaves */
	u64 limit;				 /* operations */
	u32 leave_every, fault_every, max_grant; /* see struct checker */
	bool starved;				 /* likewise */
	bool hostile;				 /* starts at any resume point, with any state */

	char problem[320];		       /* out: empty when all is well */
	enum outcome outcome;		       /* out */
	u64 result;			       /* out: r0 at RUN_DONE */
	u64 steps, runs, fast, slow, executed; /* out */
	u32 rewritten;			       /* out: instructions */
};

/* Sandboxes the program and compares; false: see `problem`. */
bool differential_run(struct differential *d, const struct cosy_validated *program);

/*
 * Makes a state that no run ever left, by d->seed.  Returns a resume point + 1 to start from; 0:
 * the program has none.  The stack gets frames, some of which return somewhere.
 */
u32 differential_hostile(const struct differential *d, const struct cosy_validated *program,
			 struct cosy_state *state, struct world *world);

/*
 * Returns whether a program that goes on at instruction `at` may read what is in a register there.
 * The sandbox may use others for itself, so states may differ in them.
 */
bool differential_reads_later(const struct cosy_validated *program, u32 at, u32 reg);

const char *outcome_name(enum outcome outcome);

#endif /* COSY_TEST_DIFFERENTIAL_H */
