// SPDX-License-Identifier: MIT
/*
 * main.c - measures ways to move megabytes: `move ways`, `move parts`, `move figures` or all.  See
 * move.h.
 */
#include "move.h"

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!*what || !strcmp(what, "ways"))
		ways_measure();
	if (!*what || !strcmp(what, "parts"))
		parts_measure();
	if (!*what || !strcmp(what, "figures"))
		figures_measure();
	return 0;
}
