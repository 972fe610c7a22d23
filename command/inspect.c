// SPDX-License-Identifier: MIT
/*
 * inspect.c - cosy-inspect, which `cosy doctor` and `cosy dis` start.  It is linked dynamically, so
 * the doctor finds in its own process what programs have preloaded.
 */
#include <stdio.h>
#include <string.h>

#include "../common/say.h"
#include "../common/standard.h"
#include "command.h"

int main(int argc, char **argv)
{
	standard_begin("cosy");
	if (argc > 0 && !strcmp(argv[0], "doctor"))
		return command_doctor(argc, argv);
	if (argc > 0 && !strcmp(argv[0], "dis"))
		return command_dis(argc, argv);
	say("cosy-inspect: use `cosy doctor` or `cosy dis`");
	return EXIT_USAGE;
}
