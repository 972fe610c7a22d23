/* SPDX-License-Identifier: MIT */
/* option.h - reports a wrong option as getopt(3) does, but with its control characters replaced. */
#ifndef COSY_COMMON_OPTION_H
#define COSY_COMMON_OPTION_H

#include <getopt.h>

#include "say.h"

/*
 * Takes the result of getopt_long, ':' or '?'.  The list of short options must begin with ":" or
 * "+:", and the numbers of long options must be above 255.
 */
static inline void option_say_wrong(const char *command, char **argv, int returned)
{
	const char *given = argv[optind - 1];

	if (returned == ':')
		say("%s: option '%s' requires an argument", command, given);
	else if (optopt > 255)
		say("%s: option '%s' takes no argument", command, given);
	else if (optopt)
		say("%s: invalid option -- '%c'", command, optopt);
	else
		say("%s: unrecognized option '%s'", command, given);
}

#endif /* COSY_COMMON_OPTION_H */
