/* SPDX-License-Identifier: MIT */
/*
 * grammar.h - a thread's calls in their order, with repetitions folded into loops at once.
 *
 * The last calls are a line of nodes.  When the line ends in the same symbols twice, or in a loop
 * and then its body again, these become the loop: a b a b a -> (a b)+ a.  So repeated work is
 * a few nodes, for any number of repetitions, and the nodes that leave the line at its other end
 * are complete.
 */
#ifndef COSY_PROFILE_GRAMMAR_H
#define COSY_PROFILE_GRAMMAR_H

#include "fold/profile.h"
#include "fold/table.h"

#define GRAMMAR_MAX_BODY 32 /* symbols */

struct grammar_node {
	uint32_t symbol;
	uint32_t core; /* the loop that counts: an inner one where it has nearly all calls */
	uint64_t entries, turns; /* of that one */
	struct sums sums;
};

struct grammar_line {
	uint32_t n, max;
	bool overflown;
	struct grammar_node nodes[];
};

struct grammar {
	struct profile *profile;
	struct table symbols;
	uint32_t max_symbols, max_bodies;
};

struct grammar_line *line_create(uint32_t max);

bool grammar_create(struct grammar *grammar, struct profile *profile, uint32_t max_symbols);
void grammar_destroy(struct grammar *grammar);

/* Returns the symbol of a site's calls; 0: the table is full. */
uint32_t grammar_site(struct grammar *grammar, uint32_t site);

/*
 * Adds a node of one call to the line.  Returns whether the line was full: then the oldest node
 * is in *left.
 */
bool grammar_add(struct grammar *grammar, struct grammar_line *line, uint32_t symbol,
		 const struct sums *sums, struct grammar_node *left);

void sums_add(struct sums *to, const struct sums *from);

#endif /* COSY_PROFILE_GRAMMAR_H */
