/* SPDX-License-Identifier: MIT */
/* option.h - says what is wrong with an option, as getopt(3) would; that prints it as it is. */
#ifndef COSY_COMMON_OPTION_H
#define COSY_COMMON_OPTION_H

#include <getopt.h>

#include "say.h"

/*
 * To be called with what getopt_long returned, ':' or '?', when its list of short options begins
 * with ":" or "+:".  Numbers of long options are above 255.
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
