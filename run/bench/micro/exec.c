// SPDX-License-Identifier: MIT
/*
 * exec.c ROUNDS PROGRAM EMPTY LIBRARY COSY - the cost that a preloaded library adds to an exec: the
 * program by itself, with an empty library, with libcosy-run.so, and by `cosy run`, in
 * turn.  Writes lines as values.h says, of the process's CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "rounds.h"
#include "values.h"

#define CONTENDERS 4

static int rounds;

/* CPU time of the process, in ns: the clock's would be that of whatever runs besides. */
static double run(char *const argv[], char *const environment[])
{
	struct rusage used;
	int status = -1;
	pid_t pid = vfork();

	if (!pid) {
		execve(argv[0], argv, environment);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &used) != pid || status) {
		fprintf(stderr, "%s: status %d\n", argv[0], status);
		exit(1);
	}
	return 1e9 * (used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       1e3 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	static const char *const names[CONTENDERS] = {"plain", "an empty library", "libcosy-run.so",
						      "cosy run"};
	static double values[CONTENDERS][MAX_ROUNDS];
	static char empty[4100] = "LD_PRELOAD=", library[4100] = "LD_PRELOAD=";
	char *plain_argv[] = {NULL, NULL}, *run_argv[] = {NULL, "run", "--", NULL, NULL};
	char *none[] = {NULL}, *with_empty[] = {empty, NULL}, *with_library[] = {library, NULL};

	if (argc != 6 || (rounds = atoi(argv[1])) < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: run_exec ROUNDS PROGRAM EMPTY LIBRARY COSY\n");
		return 2;
	}
	plain_argv[0] = run_argv[3] = argv[2];
	strncat(empty, argv[3], 4000);
	strncat(library, argv[4], 4000);
	run_argv[0] = argv[5];
	for (int i = -20; i < rounds; i++) {
		int at = i < 0 ? 0 : i;

		values[0][at] = run(plain_argv, none);
		values[1][at] = run(plain_argv, with_empty);
		values[2][at] = run(plain_argv, with_library);
		values[3][at] = run(run_argv, none);
	}
	for (int which = CONTENDERS - 1; which >= 0; which--)
		values_print("exec", "true", 0, names[which], values[which], values[0], rounds);
	return 0;
}
