// SPDX-License-Identifier: MIT
/* main.c - `cosy`: a table of subcommands. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static int help(int argc, char **argv);

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *what;
	bool has_options; /* and tells them itself */
} commands[] = {
	{"doctor", command_doctor, "",
	 "say whether compounds run in this kernel, and if not, what to do", false},
	{"dis", command_dis, "FILE...",
	 "show the compounds in object files, executables and containers", false},
	{"run", command_run, "PROGRAM...",
	 "run an unmodified program with its small file reads served from user space", true},
	{"profile", command_profile, "PROGRAM...",
	 "say where a program's system calls go, and what would make them cheaper", true},
	{"help", help, "", "show this", false},
};

static void usage(FILE *to)
{
	fprintf(to, "usage: cosy COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		char line[40];

		snprintf(line, sizeof(line), "%s %s", commands[i].name, commands[i].arguments);
		fprintf(to, "  cosy %-18s %s\n", line, commands[i].what);
	}
	fprintf(to, "\nSee cosy(1).\n");
}

static int help(int argc, char **argv)
{
	(void)argc, (void)argv;
	usage(stdout);
	return EXIT_FINE;
}

static bool asks_for_help(const char *argument)
{
	return !strcmp(argument, "--help") || !strcmp(argument, "-h");
}

static int command_start(size_t i, int argc, char **argv)
{
	if (commands[i].has_options || argc < 2 || !asks_for_help(argv[1]))
		return commands[i].run(argc, argv);
	printf("usage: cosy %s%s%s\n\n%c%s.\n\nSee cosy(1).\n", commands[i].name,
	       *commands[i].arguments ? " " : "", commands[i].arguments,
	       toupper(commands[i].what[0]), commands[i].what + 1);
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (asks_for_help(name))
		name = "help";
	if (!strcmp(name, "--version")) {
		printf("cosy %s\n", COSY_PROJECT_VERSION);
		return EXIT_FINE;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(name, commands[i].name))
			return command_start(i, argc - 1, argv + 1);
	if (*name)
		fprintf(stderr, "cosy: there is no command %s\n", name);
	usage(stderr);
	return EXIT_USAGE;
}
