// SPDX-License-Identifier: MIT
/*
 * process.c - one operation is a whole process, from exec to exit: the program of program= with
 * the directory and count=, as a user would start it.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bench.h"
#include "compare.h"

#define LINES 8000 /* of the log, 40 bytes each */

static char program[512], count[32];
static int output;

/* The files that the programs write, besides what they print. */
static const char *const written[] = {"keys",  "records", "part0", "part1",
				      "part2", "part3",	  "copy"};

void bench_prepare(void)
{
	ssize_t length = BENCH_TRY(readlink("/proc/self/exe", program, sizeof(program) - 1));
	FILE *log = fopen("log", "w");

	program[length] = '\0';
	snprintf(strrchr(program, '/') + 1, 64, "process-%s", bench_text("program", ""));
	snprintf(count, sizeof(count), "%ld", bench_number("count", 0));
	/* The children are as a user's: nothing is counted in them, and nothing forced. */
	unsetenv("COSY_STATS");
	unsetenv("COSY_TIER");
	output = BENCH_TRY(memfd_create("output", 0));
	if (!log)
		bench_fail("log");
	/* A row whose bytes are not compared leaves its files to the next one. */
	for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++)
		unlink(written[i]);
	for (int i = 0; i < LINES; i++)
		fprintf(log, "%c %06d a line of a log, with words in\n", 'a' + i * 7 % 26, i);
	fclose(log);
}

long bench_work(long n)
{
	char *const arguments[] = {program, ".", count, NULL};
	posix_spawn_file_actions_t actions;
	long failed = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	for (long i = 0; i < n; i++) {
		int status;
		pid_t pid;

		BENCH_TRY(ftruncate(output, 0));
		BENCH_TRY(lseek(output, 0, SEEK_SET));
		if (posix_spawn(&pid, program, &actions, NULL, arguments, environ))
			bench_fail(program);
		BENCH_TRY(waitpid(pid, &status, 0));
		failed += status != 0;
	}
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

/* Its output and the files that it wrote are the row's bytes: run.py compares them. */
void bench_check(long n, long answer)
{
	static char bytes[1 << 20];
	ssize_t got = BENCH_TRY(pread(output, bytes, sizeof(bytes), 0));

	(void)n;
	if (answer)
		bench_fail("a process failed");
	compare_bytes("output", 0, bytes, bytes, got);
	for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++) {
		int fd = open(written[i], O_RDONLY);
		off_t at = 0;

		for (; fd >= 0 && (got = read(fd, bytes, sizeof(bytes))) > 0; at += got)
			compare_bytes(written[i], at, bytes, bytes, got);
		if (fd >= 0)
			close(fd);
		unlink(written[i]);
	}
}
