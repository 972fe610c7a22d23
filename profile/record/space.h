/* SPDX-License-Identifier: MIT */
/*
 * space.h - the code mappings of a watched process, and its stacks.  A stack is unwound
 * by the call-frame information that every ELF file carries (.eh_frame), so neither frame pointers
 * nor debug information are needed.
 */
#ifndef COSY_PROFILE_SPACE_H
#define COSY_PROFILE_SPACE_H

#include <stdint.h>
#include <sys/types.h>

#include "record/record.h"

struct objects; /* the files that code is mapped from */
struct space;	/* what of them is mapped into a process */

/* The registers and the upper end of the stack of a thread that makes a call. */
struct space_registers {
	uint64_t ip, sp, bp;
	const uint64_t *words; /* from sp */
	unsigned int n_words;
};

struct objects *objects_create(const struct record_sink *sink);
void objects_destroy(struct objects *objects);

struct space *space_create(struct objects *objects, pid_t pid);
void space_destroy(struct space *space);
/* Forgets all, since another program runs in the process. */
void space_forget(struct space *space);

/*
 * Add mappings that are known without /proc, which may be read too late: the program and its
 * dynamic linker; a file's code.
 */
void space_program(struct space *space, const char *path, uint64_t headers, uint64_t linker);
void space_code(struct space *space, const char *path, uint64_t start, uint64_t size,
		uint64_t offset);
/* Gives a child what its parent has. */
void space_copy(struct space *space, const struct space *from);

/* Returns the number of the stack that leads here; a new one goes to the sink.  0: unknown. */
uint32_t space_stack(struct space *space, const struct space_registers *registers);

#endif /* COSY_PROFILE_SPACE_H */
