/* SPDX-License-Identifier: MIT */
/* match.h - patterns of cosy-run.conf(5), for the library and for tools that read its rules. */
#ifndef COSY_RUN_MATCH_H
#define COSY_RUN_MATCH_H

#include <stdbool.h>

/*
 * Matches: `*` stands for any characters but slashes, `**` for any, `?` for one that is no slash.
 */
static inline bool policy_match(const char *glob, const char *end, const char *text)
{
	/* The places to go on from when the rest after the last `*` or `**` fails to match. */
	const char *star = NULL, *star_text = NULL, *stars = NULL, *stars_text = NULL;

	for (;;) {
		if (end - glob > 1 && glob[0] == '*' && glob[1] == '*') {
			stars = glob += 2;
			stars_text = text;
			star = NULL;
		} else if (glob < end && *glob == '*') {
			star = ++glob;
			star_text = text;
		} else if (glob < end && *text &&
			   (*glob == *text || (*glob == '?' && *text != '/'))) {
			glob++;
			text++;
		} else if (glob == end && !*text) {
			return true;
		} else if (star && *star_text && *star_text != '/') {
			text = ++star_text;
			glob = star;
		} else if (stars && *stars_text) {
			text = ++stars_text;
			glob = stars;
			star = NULL;
		} else {
			return false;
		}
	}
}

#endif /* COSY_RUN_MATCH_H */
