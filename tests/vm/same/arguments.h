/* SPDX-License-Identifier: MIT */
/* arguments.h - chooses arguments of random steps, and says which in words. */
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
	int64_t space;	  /* bytes of the buffer that was chosen last */
	bool may_overrun; /* the bytes after it are the same in every run */
};

#define SAY(making, ...)                                                                           \
	((making)->len +=                                                                          \
	 (size_t)snprintf((making)->text + (making)->len, 160 - (making)->len, __VA_ARGS__))

/* Makes argument m->arg, of the kind that steps.def has this letter for. */
void argument_make(struct making *m, char letter);

#endif /* SAME_ARGUMENTS_H */
