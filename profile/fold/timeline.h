/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - when each process was in calls and between them, in bins that become twice as long
 * whenever the recording outgrows them.  While there is room, each running process has a lane, and
 * so do the busiest processes that have ended; all others share one.
 */
#ifndef COSY_PROFILE_TIMELINE_H
#define COSY_PROFILE_TIMELINE_H

#include <stdbool.h>

#include "record/event.h"

#define TIMELINE_BINS  128
#define TIMELINE_LANES 24
#define TIMELINE_SHIFT 16 /* the shortest bin, as a power of two in ns */

struct timeline_bin {
	uint64_t calls, kernel, user; /* ns as recorded */
};

struct timeline_lane {
	uint32_t pid; /* 0: all others */
	bool ended;   /* the process */
	uint64_t calls;
	char program[EVENT_MAX_PATH]; /* the path of the last execve; "": none */
	struct timeline_bin bins[TIMELINE_BINS];
};

struct timeline {
	uint64_t start;
	unsigned int shift; /* a bin is 1 << shift ns long */
	uint32_t n_lanes;   /* without lanes[0], which all other processes share */
	struct timeline_lane lanes[TIMELINE_LANES + 1];
};

/*
 * Returns the number of a lane for a new process.  If all are taken, the least busy process that
 * has ended moves to lane 0; if none has ended, the new process shares lane 0.
 */
uint32_t timeline_lane(struct timeline *timeline, uint32_t pid);

/* Notes that a process has ended, so that a new one may get its lane. */
void timeline_end(struct timeline *timeline, uint32_t lane);

/* Adds `user` ns that a thread computed until `time`, to as many earlier bins as they fill. */
void timeline_gap(struct timeline *timeline, uint32_t lane, uint64_t time, uint64_t user);

/* Adds a call that has ended, and the time that its thread computed before it. */
void timeline_count(struct timeline *timeline, uint32_t lane, const struct event_call *call);

#endif /* COSY_PROFILE_TIMELINE_H */
