// SPDX-License-Identifier: MIT
/* programs.c - see programs.h. */
#include <string.h>

#include "fold/programs.h"

uint32_t programs_add(struct programs *programs, const char *path)
{
	uint32_t i;

	for (i = 1; i <= programs->n; i++)
		if (!strcmp(programs->of[i].path, path))
			return i;
	if (i > MAX_PROGRAMS)
		return 0;
	strcpy(programs->of[i].path, path);
	return programs->n = i;
}

uint32_t programs_order(const struct programs *programs, uint32_t ret[MAX_PROGRAMS])
{
	uint32_t n = 0;

	for (uint32_t i = 1; i <= programs->n; i++) {
		uint32_t at = n;

		if (!programs->of[i].calls)
			continue;
		for (; at && programs->of[ret[at - 1]].calls < programs->of[i].calls; at--)
			ret[at] = ret[at - 1];
		ret[at] = i;
		n++;
	}
	return n;
}
