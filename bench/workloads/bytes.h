/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - the loops over bytes that ordinary C has, by loop=: an operation reads a page of
 * a file that is in the cache, and goes over it once.
 */
#ifndef BYTES_H
#define BYTES_H

#include "bench.h"
#include "compare.h"
#include "content.h"

#define PAGE  4096
#define PAGES 16

/* Offset of the page that operation `i` reads. */
#define PAGE_OF(i) ((i) % PAGES * PAGE)

/* Does n operations.  Returns the answer; bytes_left gets what is in memory then. */
typedef long bytes_loop(int file, long n);

static bytes_loop words_sum, bytes_sum, lines_count, byte_find, string_length, fnv_hash,
	case_change, words_count, bytes_count, bytes_compare;

static unsigned char bytes_left[PAGE];

static int fd;
static bytes_loop *loop;

void bench_prepare(void)
{
	static const struct {
		const char *name;
		bytes_loop *loop;
	} loops[] = {
		{"word sum", words_sum},     {"byte sum", bytes_sum},	{"count", lines_count},
		{"find", byte_find},	     {"strlen", string_length}, {"fnv", fnv_hash},
		{"upper case", case_change}, {"words", words_count},	{"histogram", bytes_count},
		{"compare", bytes_compare},
	};
	const char *name = bench_text("loop", "byte sum");

	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		if (!strcmp(loops[i].name, name))
			loop = loops[i].loop;
	}
	if (!loop)
		bench_fail("loop");
	bench_file("bytes", PAGES * PAGE);
	fd = BENCH_TRY(open("bytes", O_RDONLY));
}

long bench_work(long n)
{
	return loop(fd, n);
}

/* Computes the same by code of another kind, which no contender has. */
static long expected(long n, unsigned char *left)
{
	unsigned char text[PAGE];
	long sum = 0, in = 0;

	for (long i = 0; i < n; i++) {
		uint32_t hash = 2166136261u;

		content_bytes(text, "bytes", PAGE_OF(i), PAGE);
		for (volatile int at = 0; at < PAGE; at++) {
			unsigned char byte = text[at];
			int space = byte == ' ' || byte == '\n' || byte == '\t';

			if (loop == words_sum)
				sum += (uint64_t)byte << at % 8 * 8;
			if (loop == bytes_sum || loop == bytes_count)
				sum += byte;
			if (loop == lines_count)
				sum += byte == '\n';
			if (loop == byte_find || loop == string_length || loop == bytes_compare)
				sum++;
			if (loop == words_count)
				sum += in && space;
			in = !space;
			hash = (hash ^ byte) * 16777619u;
			if (loop == case_change && byte >= 'a' && byte <= 'z')
				text[at] -= 32;
			else if (loop == case_change && byte >= 'A' && byte <= 'Z')
				text[at] += 32;
		}
		if (loop == fnv_hash)
			sum += hash;
		if (loop == case_change)
			sum += text[7];
		in = 0;
	}
	memcpy(left, text, PAGE);
	return sum;
}

/* Compares each number of operations, which shows its last page. */
void bench_check(long n, long answer)
{
	unsigned char left[PAGE];

	compare_number("what was found", 0, answer, expected(n, left));
	for (long pages = 1; pages <= 34; pages++) {
		bench_again(pages);
		expected(pages, left);
		compare_bytes("bytes", PAGE_OF(pages - 1), bytes_left, left, PAGE);
	}
}

#endif /* BYTES_H */
