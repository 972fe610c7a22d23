/* SPDX-License-Identifier: MIT */
/* child.h - the program that is recorded, and one of our own by which a back end's cost is known. */
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

/* 0, or -errno. */
int child_start(struct child *child, void (*run)(void *), void *argument);

/* Lets it go on, or end if `error` is not 0; which is returned. */
int child_go(struct child *child, int error);

/* A child's run: executes the program, whose arguments these are. */
void program_run(void *arguments);

/* A child of our own makes calls whose cost without a recorder is known. */
struct calibration {
	int file;
	struct record_usual usual;
	uint64_t cpu, user;
	unsigned int calls;
};

bool calibration_begin(struct calibration *calibration);
/* The child's run. */
void calibration_run(void *calibration);
/* The sink of what it does. */
void calibration_take(void *calibration, const struct event *event);
void calibration_end(struct calibration *calibration, struct event_header *header);

#endif /* COSY_PROFILE_CHILD_H */
