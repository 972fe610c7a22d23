// SPDX-License-Identifier: MIT
/*
 * programs.c - one operation is a whole process, from exec to exit, that goes over the tree of
 * tree=: the equivalent of program= (../programs/), or with COMMAND the distribution's own.
 */
#define _GNU_SOURCE
#include "child.h"

#define WORDS 8

/* Arguments of each command; the last word is the tree. */
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
	child_path(program, sizeof(program), "programs", name);
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
	/*
	 * Children are as a user's, but for the language: nothing is counted in them, and nothing
	 * forced.
	 */
	unsetenv("COSY_STATS");
	unsetenv("COSY_TIER");
	setenv("LC_ALL", "C", 1);
	output = child_output();
}

#ifdef COMMAND
/* The members of a ustar header that are looked at, by their offsets. */
enum { SIZE = 124, CHECKSUM = 148, MAGIC = 257, MAJOR = 329, MINOR = 337, BLOCK = 512 };

/*
 * Puts zeros into the device numbers that GNU tar leaves empty from 1.35 on, where older ones and
 * the equivalent write zeros.  So the archive is the same by any of them.
 */
static void archive_fill_devices(int fd)
{
	char header[BLOCK];
	off_t at = 0;

	while (BENCH_TRY(pread(fd, header, BLOCK, at)) == BLOCK &&
	       !memcmp(header + MAGIC, "ustar", 5)) {
		unsigned long sum = 0;

		if (!header[MAJOR] && !header[MINOR]) {
			memcpy(header + MAJOR, "0000000", 8);
			memcpy(header + MINOR, "0000000", 8);
			memset(header + CHECKSUM, ' ', 8);
			for (int i = 0; i < BLOCK; i++)
				sum += (unsigned char)header[i];
			snprintf(header + CHECKSUM, 7, "%06lo", sum);
			BENCH_TRY(pwrite(fd, header, BLOCK, at));
		}
		at += BLOCK + (strtoul(header + SIZE, NULL, 8) + BLOCK - 1) / BLOCK * BLOCK;
	}
}
#endif

long bench_work(long n)
{
	return child_run(program, arguments, output, n);
}

/* Compares the bytes that the program printed. */
void bench_check(long n, long answer)
{
	(void)n;
	if (answer)
		bench_fail("a process failed");
#ifdef COMMAND
	if (!strcmp(bench_text("program", ""), "tar"))
		archive_fill_devices(output);
#endif
	child_compare("output", output);
}
