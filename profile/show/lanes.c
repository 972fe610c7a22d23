// SPDX-License-Identifier: MIT
/* lanes.c - the timeline of each process as a row of columns; see page.h. */
#include <string.h>

#include "../common/path.h"
#include "show/page.h"

#define HIGH 30 /* of a lane, in pixels */

/* Returns a bin's time without what recording took. */
static double bin_net(uint64_t calls, uint64_t cpu, double cost)
{
	double net = (double)cpu - (double)calls * cost;

	return net > 0 ? net : 0;
}

static double bin_kernel(const struct profile *profile, const struct timeline_bin *bin)
{
	return bin_net(bin->calls, bin->kernel, profile->header.call_cost);
}

static double bin_user(const struct profile *profile, const struct timeline_bin *bin)
{
	return bin_net(bin->calls, bin->user, profile->header.gap_cost);
}

static double lane_highest(const struct profile *profile, const struct timeline_lane *lane)
{
	double highest = 0;

	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		double whole =
			bin_kernel(profile, &lane->bins[i]) + bin_user(profile, &lane->bins[i]);

		highest = whole > highest ? whole : highest;
	}
	return highest;
}

/* Returns how many bins the recording reaches. */
static unsigned int lanes_bins(const struct profile *profile)
{
	const struct timeline *timeline = &profile->timeline;
	uint64_t last = profile->last > timeline->start ? profile->last - timeline->start : 0;

	last = (last >> timeline->shift) + 1;
	return last < TIMELINE_BINS ? last : TIMELINE_BINS;
}

/* Columns, one bin wide; those of user time stand upon those of calls. */
static void lane_columns(FILE *to, const struct profile *profile, const struct timeline_lane *lane,
			 double highest, bool user)
{
	fprintf(to, "<path class=\"%s\" d=\"", user ? "user" : "kernel");
	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		double kernel = HIGH * bin_kernel(profile, &lane->bins[i]) / highest;
		double height = user ? HIGH * bin_user(profile, &lane->bins[i]) / highest : kernel;
		double below = user ? kernel : 0;

		if (height >= 0.05)
			fprintf(to, "M%u,%.1fv-%.1fh1v%.1fz", i, HIGH - below, height, height);
	}
	fputs("\"/>", to);
}

static void lane_show(FILE *to, const struct profile *profile, uint32_t number, unsigned int bins)
{
	const struct timeline_lane *lane = &profile->timeline.lanes[number];
	double highest = lane_highest(profile, lane);
	char count[PAGE_COUNT];

	page_count(count, lane->calls);
	fputs("<p>", to);
	page_text(to, !number	       ? "all others"
		      : *lane->program ? path_name(lane->program)
				       : "a child");
	if (number)
		fprintf(to, ", process %u", lane->pid);
	fprintf(to,
		": <span class=\"lane\">%s</span> calls, at most %.0f %%</p><svg class=\"lane\" "
		"role=\"img\" viewBox=\"0 0 %u %d\" preserveAspectRatio=\"none\" "
		"aria-label=\"%s calls over time\">",
		count, page_percent(highest, (double)(1ULL << profile->timeline.shift)), bins, HIGH,
		count);
	highest = highest > 0 ? highest : 1;
	lane_columns(to, profile, lane, highest, false);
	lane_columns(to, profile, lane, highest, true);
	fputs("</svg>\n", to);
}

/* True if a lane would be invisible beside the others. */
static bool lane_small(const struct profile *profile, const struct timeline_lane *lane)
{
	return lane->calls * 1000 < profile->sums.calls &&
	       lane_highest(profile, lane) * 50 < (double)(1ULL << profile->timeline.shift);
}

static void lanes_rest(FILE *to, const struct profile *profile)
{
	const struct timeline *timeline = &profile->timeline;
	uint64_t calls = 0;
	uint32_t n = 0;
	char count[PAGE_COUNT];

	for (uint32_t i = 1; i <= timeline->n_lanes; i++)
		if (lane_small(profile, &timeline->lanes[i])) {
			calls += timeline->lanes[i].calls;
			n++;
		}
	if (n)
		fprintf(to,
			"<p class=\"lanes weak\">And %u that hardly ran: <span "
			"class=\"lane\">%s</span> calls.</p>\n",
			n, page_count(count, calls));
}

void page_lanes(FILE *to, const struct profile *profile)
{
	const struct timeline *timeline = &profile->timeline;
	unsigned int bins;
	char half[32], end[32];
	double bin;

	if (!timeline->shift)
		return;
	bin = (double)(1ULL << timeline->shift);
	bins = lanes_bins(profile);
	advise_time(half, sizeof(half), bins * bin / 2);
	advise_time(end, sizeof(end), bins * bin);
	fputs("<h2>Over time</h2>\n<p class=\"weak\">Processor time of each process, <span "
	      "class=\"key kernel\"></span>in calls and <span class=\"key user\"></span>between "
	      "them; each row is as high as its own dearest moment, in per cent of a "
	      "processor.</p>\n<div class=\"lanes\">",
	      to);
	for (uint32_t i = 1; i <= timeline->n_lanes; i++)
		if (!lane_small(profile, &timeline->lanes[i]))
			lane_show(to, profile, i, bins);
	if (timeline->lanes[0].calls)
		lane_show(to, profile, 0, bins);
	fprintf(to,
		"<span class=\"blank\"></span><div "
		"class=\"axis\"><span>0</span><span>%s</span><span>%s</span></div></div>\n",
		half, end);
	lanes_rest(to, profile);
}
