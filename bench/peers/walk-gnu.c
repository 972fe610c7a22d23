// SPDX-License-Identifier: MIT
/* walk.h by du itself. */
#include "walk.h"

#include "command.h"

static long walk_tree(int root)
{
	(void)root;
	mkdir("none", 0700);
	command_timed((char *[]){"du", "-s", "tree", NULL}, (char *[]){"du", "-s", "none", NULL},
		      "/dev/null");
	return 0;
}
