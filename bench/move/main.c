// SPDX-License-Identifier: MIT
/*
 * main.c - measures ways to move megabytes: `move ways`, `move figures` or both.  See move.h.
 */
#include "move.h"

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "figures"))
		ways_measure();
	if (strcmp(what, "ways"))
		figures_measure();
	return 0;
}
