/* SPDX-License-Identifier: MIT */
/*
 * bonnie.h - the block phases of Bonnie (FSL-02-01 section 4.3): a file of `megabytes`, from
 * its start, in blocks of 16 KB, one word of each block looked at or changed as Bonnie does.
 * The file is there already and in the cache.  An operation is one block.
 */
#ifndef BONNIE_H
#define BONNIE_H

#include "bench.h"

#define BLOCK (16 << 10)

/* The next n blocks, from the start of the file; returns what was looked at, summed up. */
long bonnie_pass(int fd, long n);

void bench_prepare(void)
{
	bench_file("bonnie", (size_t)bench_number("megabytes", 4) << 20);
}

/* More blocks than the file has are several passes. */
long bench_work(long n)
{
	const long blocks = (bench_number("megabytes", 4) << 20) / BLOCK;
	long sum = 0;

	for (; n > 0; n -= blocks) {
		int fd = BENCH_TRY(open("bonnie", O_RDWR));

		sum += bonnie_pass(fd, n < blocks ? n : blocks);
		close(fd);
	}
	return sum;
}

#endif /* BONNIE_H */
