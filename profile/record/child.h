/* SPDX-License-Identifier: MIT */
/*
 * child.h - starts the recorded program, and a child of our own that calibrates a back end.
 */
#ifndef COSY_PROFILE_CHILD_H
#define COSY_PROFILE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/record.h"

/* A child that waits until it is watched. */
struct child {
	pid_t pid;
	int gate;
};

/* Starts the child, which waits.  Returns 0 or a negative errno. */
int child_start(struct child *child, void (*run)(void *), void *argument);

/* Lets the child continue, or ends it if `error` is not 0.  Returns `error`. */
int child_go(struct child *child, int error);

/* Searches for a program as execvp(3) does.  Returns 0, -ENOENT or -EACCES. */
int program_find(const char *name);

/* Executes a program with these arguments: a child's `run`. */
void program_run(void *arguments);

/* Calibrates a back end by a child whose calls have a known cost without it. */
struct calibration {
	int file;
	struct record_usual usual;
	struct record_blocks blocks;
	uint32_t *recorded; /* ns of such a call while it is recorded: shared with the child */
	uint64_t cpu, user;
	unsigned int calls;
};

bool calibration_begin(struct calibration *calibration);
/* Makes the child's calls: its `run`. */
void calibration_run(void *calibration);
/* Takes the events of the child's calls. */
void calibration_take(void *calibration, const struct event *event);
void calibration_end(struct calibration *calibration, struct event_header *header);

#endif /* COSY_PROFILE_CHILD_H */
