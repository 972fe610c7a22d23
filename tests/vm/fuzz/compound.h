/* SPDX-License-Identifier: MIT */
/* compound.h - a compound under construction, by fragments that are sound each. */
#ifndef FUZZ_COMPOUND_H
#define FUZZ_COMPOUND_H

#include <linux/bpf.h>
#include <linux/cosy.h>

#include "sequence.h"

enum { MAX_FRAGMENTS = 1200, MAX_LOOPS = 4, MAX_BRANCHES = 16, MAX_LOCALS = 8 };

struct builder {
	struct bpf_insn insns[MAX_FRAGMENTS + 200];
	uint32_t count;
	bool loaded; /* the next fragment begins another */
	struct {
		uint32_t start;
		uint8_t over; /* whether it has ended */
	} loops[MAX_LOOPS];
	uint32_t depth;
	struct {
		uint32_t at, left;
	} branches[MAX_BRANCHES];
	uint32_t branch_cnt;
	struct {
		uint32_t at, which;
	} locals[MAX_LOCALS];
	uint32_t local_cnt;
};

/* Adds what a step of code says. */
void builder_add(struct builder *b, const struct step *step);

/*
 * Ends loops, branches and functions.  More fragments begin anew; it can be had again until then.
 */
void builder_end(struct builder *b);

/* Returns the number of a system call or operation, and its arguments' letters. */
int call_number(uint32_t choice, const char **letters);

#endif /* FUZZ_COMPOUND_H */
