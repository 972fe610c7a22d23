/* SPDX-License-Identifier: MIT */
/* calls.h - properties of each system call; most of them from core/ops.def. */
#ifndef COSY_PROFILE_CALLS_H
#define COSY_PROFILE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#define CALLS_MAX 512

struct call_kind {
	const char *name;
	const char *arguments; /* core/ops.def's letters; "" where the call is unknown */
	const char *denied;    /* why no compound may make it; NULL: it may */
	unsigned int flags;    /* enum cosy_call_flags, enum cosy_call_class */
	bool specialised;      /* it has a specialised version in the module */
};

/* Describes any number; all unknown ones share one description. */
const struct call_kind *call_kind(unsigned int nr);

/* Returns which argument is a path, from 0; -1: none is. */
int call_path(unsigned int nr);

/* Returns which argument is a descriptor that the call uses, from 0; -1: none is. */
int call_descriptor(unsigned int nr);

/*
 * Returns which argument is memory that the call reads, or writes, with its length in the next; -1:
 * none.
 */
int call_given(unsigned int nr);
int call_made(unsigned int nr);

/* True if the call is an fcntl whose `command` takes a struct flock. */
bool call_locks(unsigned int nr, uint64_t command);

/*
 * True if the call allocates or frees memory, so that it belongs to the allocator, not to a loop.
 */
bool call_memory(unsigned int nr, const uint64_t args[6]);

#endif /* COSY_PROFILE_CALLS_H */
