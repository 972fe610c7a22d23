/* SPDX-License-Identifier: MIT */
/* arguments.h - arguments of random steps: each chooses one, and says which in words. */
#ifndef SAME_ARGUMENTS_H
#define SAME_ARGUMENTS_H

#include "same.h"

struct making {
	struct round *round;
	struct step *step;
	uint32_t index; /* of the step */
	char *text;
	size_t len;
	uint32_t arg;
	int64_t space;	  /* bytes of the buffer chosen last */
	bool may_overrun; /* what lies after it is the same in every run */
};

#define SAY(making, ...)                                                                           \
	((making)->len +=                                                                          \
	 (size_t)snprintf((making)->text + (making)->len, 160 - (making)->len, __VA_ARGS__))

/* Argument m->arg, of the kind that steps.def has this letter for. */
void argument_make(struct making *m, char letter);

#endif /* SAME_ARGUMENTS_H */
