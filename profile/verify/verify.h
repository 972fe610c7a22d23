/* SPDX-License-Identifier: MIT */
/* verify.h - does `cosy run` save what was predicted?  Nothing is traced while that is measured. */
#ifndef COSY_PROFILE_VERIFY_H
#define COSY_PROFILE_VERIFY_H

#include <stdbool.h>

#include "advise/advise.h"

struct verify_result {
	unsigned int rounds;
	double plain, run;	/* ns of processor time of a whole run, medians */
	double low, high;	/* predicted, in parts of `plain` */
	double measured, noise; /* the same; noise: the middle half of the rounds */
	bool in;
};

/*
 * Runs `program`, which ends with NULL, in turn as it is and under `cosy run`, its output
 * thrown away.  Returns NULL, or what failed.
 */
const char *verify_run(const struct advice *advice, char *const *program, unsigned int rounds,
		       struct verify_result *ret);

#endif /* COSY_PROFILE_VERIFY_H */
