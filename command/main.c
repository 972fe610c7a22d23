// SPDX-License-Identifier: MIT
/* main.c - `cosy`: a table of subcommands. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/say.h"
#include "../common/standard.h"
#include "../run/file/watchdog.h"
#include "command.h"

static int help(int argc, char **argv);

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *what;
	bool has_options; /* and prints its own --help */
	const char *more; /* of --help */
} commands[] = {
	{"doctor", command_inspect, "",
	 "check whether compounds run in this kernel, and if not, what to do", false,
	 "Checks each step from the environment to a compound that is loaded and run.  Exit "
	 "status: 1 if\na check fails, else 0.\n"},
	{"dis", command_inspect, "FILE...",
	 "show the compounds in object files, executables and containers", false,
	 "FILE is an object, executable or library by cosycc.  > marks the target of a jump, * an "
	 "instruction\nat which the compound can continue after it has left the kernel.  Lines "
	 "with ; are the source.\n"},
	{"forget", command_forget, "", "drop the history of your regions, and compiled compounds",
	 false, "The next process of each program starts natively again, as the first one did.\n"},
	{"run", command_run, "PROGRAM...",
	 "run an unmodified program with its small file reads served from user space", true, ""},
	{"profile", command_profile, "PROGRAM...",
	 "record a program's system calls, and find ways to make them cheaper", true, ""},
	{"help", help, "[COMMAND]", "show this, or how to call COMMAND", true, ""},
};

static void usage(FILE *to)
{
	fprintf(to, "usage: cosy COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		char line[40];

		snprintf(line, sizeof(line), "%s %s", commands[i].name, commands[i].arguments);
		fprintf(to, "  cosy %-18s %s\n", line, commands[i].what);
	}
	fprintf(to, "\nEach takes --help; `cosy --version` prints the version.  See cosy(1).\n");
}

static bool asks_for_help(const char *argument)
{
	return !strcmp(argument, "--help") || !strcmp(argument, "-h");
}

/* Starts a command.  Handles --help and refuses other options of commands that have none. */
static int command_start(size_t i, int argc, char **argv)
{
	if (commands[i].has_options || argc < 2 || argv[1][0] != '-' || !argv[1][1])
		return commands[i].run(argc, argv);
	if (!strcmp(argv[1], "--")) {
		argv[1] = argv[0];
		return commands[i].run(argc - 1, argv + 1);
	}
	if (!asks_for_help(argv[1]))
		return command_misused(commands[i].name, "there is no option %s", argv[1]);
	printf("usage: cosy %s%s%s\n\n%c%s.\n%s\nSee cosy-%s(1).\n", commands[i].name,
	       *commands[i].arguments ? " " : "", commands[i].arguments,
	       toupper(commands[i].what[0]), commands[i].what + 1, commands[i].more,
	       commands[i].name);
	return EXIT_FINE;
}

/* Starts the command of that name, or reports that there is none. */
static int command_named(const char *name, int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(name, commands[i].name))
			return command_start(i, argc, argv);
	return command_misused("", "there is no command %s", name);
}

static int help(int argc, char **argv)
{
	char option[] = "--help", *asked[] = {argc > 1 ? argv[1] : NULL, option, NULL};

	if (asked[0] && strcmp(asked[0], "help") && !asks_for_help(asked[0]))
		return command_named(asked[0], 2, asked);
	usage(stdout);
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (argc > 0 && !strcmp(argv[0], WATCHDOG_NAME))
		return command_watchdog();
	standard_begin("cosy");
	if (!*name) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "--version")) {
		printf("cosy %s\n", COSY_PROJECT_VERSION);
		return EXIT_FINE;
	}
	return command_named(asks_for_help(name) ? "help" : name, argc - 1, argv + 1);
}
