// SPDX-License-Identifier: MIT
/* build.c - see build.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "show/show.h"
#include "verify/build.h"

/* Returns the best region that the compiler can mark.  Findings are ordered, the best first. */
static const struct finding *region_best(const struct advice *advice)
{
	for (uint32_t i = 0; i < advice->n; i++) {
		const struct finding *finding = &advice->findings[i];

		if (finding->way == WAY_REGION && finding->object && !finding->by_name &&
		    !finding->beyond)
			return finding;
	}
	return NULL;
}

const char *build_suggested(const struct advice *advice, struct places *places, const char *command,
			    const struct finding **finding)
{
	static char place_text[PATH_MAX + 16];
	const struct finding *best = region_best(advice);
	struct place place;

	if (!best)
		return "no loop of it is advised as a region that the compiler could mark";
	place = show_line_of(places, advice, best);
	if (!place.file)
		return "the line of the best region is unknown: build the program with -g";
	snprintf(place_text, sizeof(place_text), "%s:%d", place.file, place.line);
	fprintf(stderr, "cosy profile: building with COSY_SUGGEST=");
	show_text(stderr, place_text, SHOW_TERMINAL, 0);
	fputc('\n', stderr);
	if (setenv("COSY_SUGGEST", place_text, 1))
		return "there is no memory";
	fflush(NULL);
	if (system(command))
		return "the command of --build failed";
	*finding = best;
	return NULL;
}
