// SPDX-License-Identifier: MIT
/* misused.c - see command.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/say.h"
#include "command.h"

int command_misused(const char *command, const char *format, ...)
{
	const char *space = *command ? " " : "";
	char *what = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&what, format, args) >= 0)
		say("cosy%s%s: %s", space, command, what);
	va_end(args);
	free(what);
	say("Try `cosy%s%s --help`.", space, command);
	return EXIT_USAGE;
}
