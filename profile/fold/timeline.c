// SPDX-License-Identifier: MIT
/* timeline.c - see timeline.h. */
#include <string.h>

#include "fold/timeline.h"

uint32_t timeline_lane(struct timeline *timeline, uint32_t pid)
{
	if (timeline->n_lanes == TIMELINE_LANES)
		return 0;
	timeline->lanes[++timeline->n_lanes].pid = pid;
	return timeline->n_lanes;
}

/* Two bins become one. */
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

void timeline_count(struct timeline *timeline, uint32_t lane, const struct event_call *call)
{
	uint64_t time = call->event.time;
	struct timeline_bin *bin;

	if (!timeline->shift) {
		timeline->shift = TIMELINE_SHIFT;
		timeline->start = time;
	}
	/* One that began before the first that ended. */
	time = time > timeline->start ? time - timeline->start : 0;
	while (time >> timeline->shift >= TIMELINE_BINS)
		timeline_fold(timeline);
	bin = &timeline->lanes[lane].bins[time >> timeline->shift];
	timeline->lanes[lane].calls++;
	bin->calls++;
	if (call->event.flags & EVENT_CPU) {
		bin->kernel += call->cpu;
		bin->user += call->user;
	}
}
