/* SPDX-License-Identifier: MIT */
/* command.h - the subcommands of `cosy`; the table is in main.c. */
#ifndef COSY_COMMAND_COMMAND_H
#define COSY_COMMAND_COMMAND_H

#include <stdbool.h>

/* Run a subcommand, whose name is argv[0], and return the exit status. */
int command_doctor(int argc, char **argv);
int command_dis(int argc, char **argv);
int command_forget(int argc, char **argv);
int command_run(int argc, char **argv);
int command_profile(int argc, char **argv);
/* Starts the program that has doctor and dis. */
int command_inspect(int argc, char **argv);

/*
 * Finds the library that `cosy run` preloads, and writes its path to `ret`, which has room for
 * PATH_MAX bytes.
 */
bool library_find(const char *name, char *ret);
#define RUN_LIBRARY "libcosy-run.so"

/* Is what the library of `cosy run` starts by another name.  Returns the exit status. */
int command_watchdog(void);

/* The exit statuses of every subcommand. */
enum { EXIT_FINE = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

/*
 * Says on standard error what is wrong with a command line, and where to look; the command is ""
 * for `cosy` itself.  Returns EXIT_USAGE.
 */
__attribute__((format(printf, 2, 3))) int command_misused(const char *command, const char *format,
							  ...);

#endif /* COSY_COMMAND_COMMAND_H */
