/* SPDX-License-Identifier: MIT */
/*
 * grep.h - counts the lines with a text in them, in files of 8 KB of which there are `kilobytes`
 * in all, counted by a user function that is given each chunk of 4096 bytes (FSL-02-01
 * section 4.3).  As there, a text across the border of two chunks is not looked for; no
 * line of these files crosses one.  An operation is one pass over all the files.
 */
#ifndef GREP_H
#define GREP_H

#define _GNU_SOURCE
#include "bench.h"
#include "compare.h"
#include "content.h"

#define FILE_SIZE 8192
#define CHUNK	  4096
#define TEXT	  "1e eee"

/* Counts the lines of data[0..len) with the text in them; the user function. */
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

/* Counts the lines with TEXT in `files` files, which are called grep-00000 and so on. */
static long grep_files(long files);

static long files;
/* True while what is found is compared. */
static int grep_checked;

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

/* Writes "grep-00000" for 0, without stdio, so that it can be inside a region. */
static inline void grep_name(char name[11], long number)
{
	memcpy(name, "grep-00000", 11);
	for (char *digit = name + 9; number; number /= 10)
		*digit-- += number % 10;
}

#define CHECKED 32 /* files */
#define LINES	(CHUNK / CONTENT_LINE)

/* Makes a chunk of which `count` lines have the text in them, and no others. */
static void make_chunk(char chunk[CHUNK], const char *name, long at, long count)
{
	char *p = chunk;

	content_bytes(chunk, name, at, CHUNK);
	while ((p = memmem(p, chunk + CHUNK - p, TEXT, sizeof(TEXT) - 1)))
		*p = 'x';
	/* Spread them: 37 and the number of lines have no common factor. */
	for (long i = 0; i < count; i++)
		memcpy(chunk + 37 * i % LINES * CONTENT_LINE, TEXT, sizeof(TEXT) - 1);
}

/*
 * Compares files whose chunks all have another number of matches, so that bytes of another chunk
 * show; then the row's own.
 */
void bench_check(long n, long answer)
{
	long wanted, sum = 0;
	char name[11], data[FILE_SIZE];

	grep_checked = 1;
	mkdir("check", 0700);
	BENCH_TRY(chdir("check"));
	for (long i = 0; i < CHECKED; i++) {
		const long counts[] = {i, LINES - 2 * i}, before = sum;
		int fd;

		grep_name(name, i);
		for (long chunk = 0; chunk < 2; chunk++)
			make_chunk(data + chunk * CHUNK, name, chunk * CHUNK, counts[chunk]);
		fd = BENCH_TRY(open(name, O_WRONLY | O_CREAT, 0600));
		BENCH_TRY(write(fd, data, FILE_SIZE));
		close(fd);
		sum = grep_files(i + 1);
		compare_number(name, 0, sum - before, counts[0] + counts[1]);
	}
	BENCH_TRY(chdir(".."));
	wanted = 0;
	for (long i = 0; i < files; i++) {
		grep_name(name, i);
		content_bytes(data, name, 0, FILE_SIZE);
		wanted += matching_lines(data, FILE_SIZE);
	}
	compare_number("all the files", 0, grep_files(files), wanted);
	(void)n, (void)answer;
	grep_checked = 0;
}

#endif /* GREP_H */
