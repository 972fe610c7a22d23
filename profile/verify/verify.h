/* SPDX-License-Identifier: MIT */
/* verify.h - compares the predicted savings with measured, untraced runs. */
#ifndef COSY_PROFILE_VERIFY_H
#define COSY_PROFILE_VERIFY_H

#include <stdbool.h>

#include "advise/advise.h"

/* Two ways of the same work, and how often each. */
struct verify_plan {
	char *const *program; /* ends with NULL */
	const char *marked;   /* the same program with its regions marked; NULL: under `cosy run` */
	const struct finding *region; /* the marked region; NULL: any of them */
	const char
		*load; /* a command for sh that puts load on it, after which it is ended; or NULL */
	unsigned int rounds;
};

/*
 * Runs the program in turn as it is and the other way, and discards its output.  Returns NULL, or
 * the error.
 */
const char *verify(const struct advice *advice, const struct verify_plan *plan,
		   struct verified *ret);

#endif /* COSY_PROFILE_VERIFY_H */
