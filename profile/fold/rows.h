/* SPDX-License-Identifier: MIT */
/* rows.h - loops, merged by the function that they are in. */
#ifndef COSY_PROFILE_ROWS_H
#define COSY_PROFILE_ROWS_H

#include "fold/grammar.h"

struct rows {
	struct profile *profile;
	struct table table;
	uint32_t max;
};

bool rows_create(struct rows *rows, struct profile *profile);
void rows_destroy(struct rows *rows);

/* Counts a node of a process that has left its line, or is in it at the end. */
void rows_count(struct rows *rows, const struct grammar_node *node, uint32_t pid);

/* Adds calls outside of loops to the rows that their sites are in, and merges rows that are one. */
void rows_finish(struct rows *rows);

#endif /* COSY_PROFILE_ROWS_H */
