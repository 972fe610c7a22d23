/* SPDX-License-Identifier: MIT */
/* command.h - runs the system's own commands; TOOLS= says where they are. */
#ifndef COMMAND_H
#define COMMAND_H

#include <sys/wait.h>

#include "bench.h"

#define COMMAND_WORDS 512

/* Runs argv with its output in the file `out`; fails unless its status is 0. */
static inline void command_run(char *const argv[], const char *out)
{
	char path[256];
	int status;
	pid_t child;

	snprintf(path, sizeof(path), "%s/%s", bench_text("tools", "/usr/bin"), argv[0]);
	child = BENCH_TRY(vfork());
	if (!child) {
		int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (fd < 0 || dup2(fd, 1) < 0)
			_exit(126);
		execv(path, argv);
		_exit(127);
	}
	BENCH_TRY(waitpid(child, &status, 0));
	if (status) {
		fprintf(stderr, "%s: status %#x\n", path, status);
		exit(1);
	}
}

/* Runs argv, timed less the time of `nothing`: the same command with nothing to do. */
static inline void command_timed(char *const argv[], char *const nothing[], const char *out)
{
	long long start;

	bench_pause();
	start = bench_now();
	command_run(nothing, out);
	bench_discount(bench_now() - start);
	bench_resume();
	command_run(argv, out);
}

#endif /* COMMAND_H */
