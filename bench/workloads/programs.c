// SPDX-License-Identifier: MIT
/*
 * programs.c - one operation is a whole process, from exec to exit, that goes over the tree of
 * tree=: the equivalent of program= (../programs/), or with COMMAND the distribution's own.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bench.h"
#include "compare.h"

#define WORDS 8

/* What is asked for; the last word is the tree. */
static const struct {
	const char *program;
	const char *command[WORDS], *equivalent[WORDS];
} asked[] = {
	{"du", {"du", "-s"}, {NULL}},
	{"find", {"find"}, {NULL}},
	{"ls", {"ls", "-lnR", "--time-style=+%s"}, {NULL}},
	{"status", {NULL}, {NULL}},
	{"grep", {"grep", "-rlF", "specification"}, {"specification"}},
	{"tar", {"tar", "cf", "-", "--format=ustar", "--numeric-owner"}, {NULL}},
};

static char program[512];
static char *arguments[WORDS + 4];
static int output;

static void arguments_add(const char *const *words)
{
	size_t at = 0;

	while (arguments[at])
		at++;
	while (*words)
		arguments[at++] = (char *)*words++;
}

void bench_prepare(void)
{
	const char *name = bench_text("program", "");
	const char *const tree[] = {bench_text("tree", "tree"), NULL};
	const char *const large[] = {"-size", "+100k", NULL};
	size_t which = 0;

	while (which < sizeof(asked) / sizeof(*asked) && strcmp(asked[which].program, name))
		which++;
	if (which == sizeof(asked) / sizeof(*asked))
		bench_fail(name);
#ifdef COMMAND
	snprintf(program, sizeof(program), "%s/%s", bench_text("tools", "/usr/bin"), name);
	arguments_add(asked[which].command);
#else
	ssize_t length = BENCH_TRY(readlink("/proc/self/exe", program, sizeof(program) - 1));

	program[length] = '\0';
	snprintf(strrchr(program, '/') + 1, 64, "programs-%s", name);
	arguments_add((const char *[]){name, NULL});
	arguments_add(asked[which].equivalent);
#endif
	arguments_add(tree);
#ifdef COMMAND
	if (!strcmp(name, "find"))
		arguments_add(large);
#else
	(void)large;
#endif
	/* The children are as a user's, but for the language: nothing is counted in them. */
	unsetenv("COSY_STATS");
	setenv("LC_ALL", "C", 1);
	output = BENCH_TRY(memfd_create("output", 0));
}

long bench_work(long n)
{
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

/* What it printed are the row's bytes: run.py compares them. */
void bench_check(long n, long answer)
{
	static char bytes[1 << 20];
	ssize_t got;

	(void)n;
	if (answer)
		bench_fail("a process failed");
	for (off_t at = 0; (got = BENCH_TRY(pread(output, bytes, sizeof(bytes), at))) > 0;
	     at += got)
		compare_bytes("output", at, bytes, bytes, got);
}
