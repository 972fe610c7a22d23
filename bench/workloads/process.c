// SPDX-License-Identifier: MIT
/*
 * process.c - one operation is a whole process, from exec to exit: the program of program= with
 * the directory and count=, as a user would start it.
 */
#define _GNU_SOURCE
#include "child.h"

#define LINES 8000 /* of the log, 40 bytes each */

static char program[512], count[32];
static int output;

/* The files that the programs write, besides what they print. */
static const char *const written[] = {"keys",  "records", "part0", "part1",
				      "part2", "part3",	  "copy"};

void bench_prepare(void)
{
	FILE *log = fopen("log", "w");

	child_path(program, sizeof(program), "process", bench_text("program", ""));
	snprintf(count, sizeof(count), "%ld", bench_number("count", 0));
	/* Children are as a user's: nothing is counted in them, and nothing forced. */
	unsetenv("COSY_STATS");
	unsetenv("COSY_TIER");
	output = child_output();
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

	return child_run(program, arguments, output, n);
}

/* Compares the program's output and the files that it wrote, the row's bytes. */
void bench_check(long n, long answer)
{
	(void)n;
	if (answer)
		bench_fail("a process failed");
	child_compare("output", output);
	for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++) {
		int fd = open(written[i], O_RDONLY);

		if (fd < 0)
			continue;
		child_compare(written[i], fd);
		close(fd);
		unlink(written[i]);
	}
}
