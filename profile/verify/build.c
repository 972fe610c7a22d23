// SPDX-License-Identifier: MIT
/* build.c - see build.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/say.h"
#include "show/show.h"
#include "verify/build.h"

/*
 * Returns the best region that the compiler can mark.  Findings are ordered, the best first, and
 * those that are not advised last.  If there are only such, the user who asked to build gets one.
 */
static const struct finding *region_best(const struct advice *advice)
{
	for (uint32_t i = 0; i < advice->n; i++)
		if (advice->findings[i].markable)
			return &advice->findings[i];
	return NULL;
}

const char *build_suggested(const struct advice *advice, struct places *places, const char *command,
			    const struct finding **finding)
{
	static char place_text[PATH_MAX + 16];
	const struct finding *best = region_best(advice);
	struct place place;

	if (!best)
		return "it has no loop of calls that the compiler could mark as a region";
	if (best->way != WAY_REGION)
		say("cosy profile: no region is advised; building with the largest "
		    "loop of calls marked");
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
