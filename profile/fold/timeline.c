// SPDX-License-Identifier: MIT
/* timeline.c - see timeline.h. */
#include <string.h>

#include "fold/timeline.h"

static uint64_t lane_time(const struct timeline_lane *lane)
{
	uint64_t time = 0;

	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		time += lane->bins[i].kernel + lane->bins[i].user;
	return time;
}

/* Adds a lane to that of all other processes, and clears it for a new one. */
static void lane_leave(struct timeline *timeline, struct timeline_lane *lane)
{
	struct timeline_lane *others = &timeline->lanes[0];

	others->calls += lane->calls;
	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		others->bins[i].calls += lane->bins[i].calls;
		others->bins[i].kernel += lane->bins[i].kernel;
		others->bins[i].user += lane->bins[i].user;
	}
	memset(lane, 0, sizeof(*lane));
}

uint32_t timeline_lane(struct timeline *timeline, uint32_t pid)
{
	uint32_t least = 0;

	if (timeline->n_lanes < TIMELINE_LANES) {
		least = ++timeline->n_lanes;
	} else {
		for (uint32_t i = 1; i <= TIMELINE_LANES; i++)
			if (timeline->lanes[i].ended &&
			    (!least ||
			     lane_time(&timeline->lanes[i]) < lane_time(&timeline->lanes[least])))
				least = i;
		if (!least)
			return 0;
		lane_leave(timeline, &timeline->lanes[least]);
	}
	timeline->lanes[least].pid = pid;
	return least;
}

void timeline_end(struct timeline *timeline, uint32_t lane)
{
	if (lane)
		timeline->lanes[lane].ended = true;
}

/* Doubles the length of bins: joins each pair of neighbours. */
static void timeline_fold(struct timeline *timeline)
{
	timeline->shift++;
	for (uint32_t lane = 0; lane <= timeline->n_lanes; lane++) {
		struct timeline_bin *bins = timeline->lanes[lane].bins;

		for (unsigned int i = 0; i < TIMELINE_BINS / 2; i++)
			bins[i] = (struct timeline_bin){
				.calls = bins[2 * i].calls + bins[2 * i + 1].calls,
				.kernel = bins[2 * i].kernel + bins[2 * i + 1].kernel,
				.user = bins[2 * i].user + bins[2 * i + 1].user,
			};
		memset(bins + TIMELINE_BINS / 2, 0, sizeof(*bins) * TIMELINE_BINS / 2);
	}
}

/* Returns the ns from the timeline's start to `time`; 0 for earlier times. */
static uint64_t timeline_since(const struct timeline *timeline, uint64_t time)
{
	return time > timeline->start ? time - timeline->start : 0;
}

/*
 * Returns the bin of a time.  The first call of this function begins the timeline, `user` ns
 * before `time`.
 */
static struct timeline_bin *timeline_bin(struct timeline *timeline, uint32_t lane, uint64_t time,
					 uint64_t user)
{
	if (!timeline->shift) {
		timeline->shift = TIMELINE_SHIFT;
		timeline->start = time > user ? time - user : 0;
	}
	time = timeline_since(timeline, time);
	while (time >> timeline->shift >= TIMELINE_BINS)
		timeline_fold(timeline);
	return &timeline->lanes[lane].bins[time >> timeline->shift];
}

void timeline_gap(struct timeline *timeline, uint32_t lane, uint64_t time, uint64_t user)
{
	struct timeline_bin *bin = timeline_bin(timeline, lane, time, user);
	uint64_t length = 1ULL << timeline->shift;
	uint64_t passed = timeline_since(timeline, time) & (length - 1);

	for (; bin > timeline->lanes[lane].bins && user > passed; bin--) {
		bin->user += passed;
		user -= passed;
		passed = length;
	}
	bin->user += user;
}

void timeline_count(struct timeline *timeline, uint32_t lane, const struct event_call *call)
{
	bool timed = call->event.flags & EVENT_CPU;
	uint64_t user = timed ? call->user : 0;
	struct timeline_bin *bin = timeline_bin(timeline, lane, call->event.time, user);

	timeline->lanes[lane].calls++;
	bin->calls++;
	if (!timed)
		return;
	bin->kernel += call->cpu;
	timeline_gap(timeline, lane, call->event.time, user);
}
