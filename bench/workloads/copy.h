/* SPDX-License-Identifier: MIT */
/*
 * copy.h - copies a file of 1 MB in pieces of `size` bytes, over a file that exists already
 * (or with fresh=1 has just been cut to nothing).  An operation is one piece.
 */
#ifndef COPY_H
#define COPY_H

#include "bench.h"
#include "compare.h"
#include "content.h"

#define FILE_SIZE (1 << 20)
#define MAX_SIZE  (64 << 10)

static int in, out;
static long size, fresh;

/* Copies n pieces on from where both files are.  Returns the bytes copied. */
static long copy_pieces(int from, int to, long n, long len);

void bench_prepare(void)
{
	size = bench_number("size", 4096);
	fresh = bench_number("fresh", 0);
	bench_file("copy-from", FILE_SIZE);
	bench_file("copy-to", FILE_SIZE);
	in = BENCH_TRY(open("copy-from", O_RDONLY));
	out = BENCH_TRY(open("copy-to", O_RDWR));
}

long bench_work(long n)
{
	long sum = 0;

	while (n > 0) {
		long pieces = n < FILE_SIZE / size ? n : FILE_SIZE / size;

		bench_pause();
		lseek(in, 0, SEEK_SET);
		lseek(out, 0, SEEK_SET);
		if (fresh)
			BENCH_TRY(ftruncate(out, 0));
		bench_resume();
		sum += copy_pieces(in, out, pieces, size);
		n -= pieces;
	}
	return sum;
}

/*
 * Checks the target, after n pieces wrote its last bytes: the source's, and what was there before.
 */
static void check_target(long n, const char *before)
{
	static char wanted[FILE_SIZE];
	const long whole = FILE_SIZE / size, last = n % whole ? n % whole : whole;

	content_bytes(wanted, before, 0, FILE_SIZE);
	content_bytes(wanted, "copy-from", 0, (n > whole && !fresh ? whole : last) * size);
	compare_file("copy-to", wanted, fresh ? last * size : FILE_SIZE);
}

/* Copies over a target with other bytes, so that those count that are written. */
static void check_again(long n)
{
	BENCH_TRY(content_write("copy-to", "other", FILE_SIZE));
	compare_number("how much was copied", 0, bench_again(n), n * size);
	check_target(n, "other");
}

void bench_check(long n, long answer)
{
	const long whole = FILE_SIZE / size;

	compare_number("how much was copied", 0, answer, n * size);
	check_target(n, "copy-to");
	/* cp knows no pieces. */
	if (!bench_number("whole", 0)) {
		check_again(1);
		check_again(3);
		check_again(whole + 5);
	}
	check_again(whole);
}

#endif /* COPY_H */
