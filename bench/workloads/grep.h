/* SPDX-License-Identifier: MIT */
/*
 * grep.h - the lines with a text in them, in files of 8 KB of which there are `kilobytes`
 * in all, counted by a user function that is given each chunk of 4096 bytes (FSL-02-01
 * section 4.3).  As there, a text across the border of two chunks is not looked for; no
 * line of these files crosses one.  An operation is one pass over all the files.
 */
#ifndef GREP_H
#define GREP_H

#define _GNU_SOURCE
#include "bench.h"

#define FILE_SIZE 8192
#define CHUNK	  4096
#define TEXT	  "1e eee"

/* The user function: how many lines of data[0..len) have the text in them. */
static inline long matching_lines(const char *data, size_t len)
{
	const char *p = data, *end = data + len;
	long lines = 0;

	while ((p = memmem(p, end - p, TEXT, sizeof(TEXT) - 1))) {
		lines++;
		p = memchr(p, '\n', end - p);
		if (!p)
			break;
	}
	return lines;
}

/* Lines with TEXT in `files` files, which are called grep-00000 and so on. */
static long grep_files(long files);

static long files;

void bench_prepare(void)
{
	char name[32];

	files = bench_number("kilobytes", 128) / (FILE_SIZE >> 10);
	if (mkdir("grep", 0700) < 0 && errno != EEXIST)
		bench_fail("grep");
	BENCH_TRY(chdir("grep"));
	for (long i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "grep-%05ld", i);
		bench_file(name, FILE_SIZE);
	}
}

long bench_work(long n)
{
	long lines = 0;

	while (n--)
		lines += grep_files(files);
	return lines;
}

/* "grep-00000" for 0, without stdio, so that it can be inside a region. */
static inline void grep_name(char name[11], long number)
{
	memcpy(name, "grep-00000", 11);
	for (char *digit = name + 9; number; number /= 10)
		*digit-- += number % 10;
}

#endif /* GREP_H */
