/* SPDX-License-Identifier: MIT */
/*
 * depend.h - values that a call takes from a recent call of the same thread: its descriptor, the
 * bytes in its buffer, its count, the file's position, or a name.
 */
#ifndef COSY_PROFILE_DEPEND_H
#define COSY_PROFILE_DEPEND_H

#include "fold/files.h"

#define DEPEND_WINDOW 8 /* calls */

struct recent {
	uint32_t site;
	uint16_t nr;
	bool position;	/* it set the position of: */
	uint64_t file;	/* open_file.serial; 0: none */
	int64_t fd;	/* that it returned; -1: none */
	int64_t count;	/* that it returned; -1: none */
	uint64_t asked; /* for at most so much */
	uint64_t buffer;
	uint64_t size; /* of the bytes that it wrote there; 0: none */
	uint32_t made;
	uint64_t path; /* hash; 0: none */
};

struct depend {
	struct recent recent[DEPEND_WINDOW];
	uint32_t n; /* of all; the last is at (n - 1) % DEPEND_WINDOW */
};

struct depends {
	struct profile *profile;
	struct table edges;
};

bool depends_create(struct depends *depends, struct profile *profile);
void depends_destroy(struct depends *depends);

/* Counts the values that the call takes from earlier ones, and remembers the call. */
void depend_count(struct depends *depends, struct depend *depend, const struct event_call *call,
		  uint32_t site, const struct open_file *file);

#endif /* COSY_PROFILE_DEPEND_H */
