/* SPDX-License-Identifier: MIT */
/* scale.h - how long random tests go on: for a number of steps, never for a time. */
#ifndef TESTS_SCALE_H
#define TESTS_SCALE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns how many steps a random test makes, of which `steps` are right for `make test`.  COSY_SCALE of
 * the environment is quick, test or nightly; scale.py is the same for scripts.
 */
static inline unsigned long scale_steps(unsigned long steps)
{
	const char *scale = getenv("COSY_SCALE");

	if (!scale || !*scale || !strcmp(scale, "test"))
		return steps;
	if (!strcmp(scale, "quick"))
		return (steps + 7) / 8;
	if (!strcmp(scale, "nightly"))
		return steps * 16;
	fprintf(stderr, "COSY_SCALE=%s: neither quick nor test nor nightly\n", scale);
	exit(2);
}

#endif /* TESTS_SCALE_H */
