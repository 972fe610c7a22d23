/* SPDX-License-Identifier: MIT */
/*
 * read1.h - reads a file of 1 MB that is in the cache in sequence, by `size` bytes, from
 * its start again at its end (Synthetix, SOSP 1995, table 3).  An operation is one read.
 */
#ifndef READ1_H
#define READ1_H

#include "bench.h"
#include "compare.h"

#define FILE_SIZE (1 << 20)
#define MAX_SIZE  (64 << 10)

static int fd;
static long size;

/* Returns the place of the last read's bytes. */
static const char *read1_got(void);

void bench_prepare(void)
{
	size = bench_number("size", 1);
	bench_file("read1", FILE_SIZE);
	fd = BENCH_TRY(open("read1", O_RDONLY));
}

static void check_last(long n)
{
	compare_content("read1", (n - 1) * size % FILE_SIZE, read1_got(), size);
}

/*
 * Compares each number of reads, which shows its last one; of single bytes many are as the one
 * before.
 */
void bench_check(long n, long answer)
{
	const long most = size == 1 ? 130 : 34;

	compare_number("how much was read", 0, answer, n * size);
	check_last(n);
	for (long reads = 1; reads <= most; reads++) {
		bench_again(reads);
		check_last(reads);
	}
}

#endif /* READ1_H */
