// SPDX-License-Identifier: MIT
/* grep.h by grep itself. */
#include "grep.h"

#include "command.h"

static long grep_files(long count)
{
	static char names[COMMAND_WORDS][11];
	static char *argv[COMMAND_WORDS + 4] = {"grep", "-cF", TEXT};

	for (long i = 0; i < count && i < COMMAND_WORDS; i++) {
		grep_name(names[i], i);
		argv[i + 3] = names[i];
	}
	argv[count + 3] = NULL;
	command_timed(argv, (char *[]){"grep", "--version", NULL}, "../grep-output");
	return 0;
}
