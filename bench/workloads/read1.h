/* SPDX-License-Identifier: MIT */
/*
 * read1.h - sequential reads of `size` bytes of a file of 1 MB that is in the cache, from
 * its start again at its end (Synthetix, SOSP 1995, table 3).  An operation is one read.
 */
#ifndef READ1_H
#define READ1_H

#include "bench.h"

#define FILE_SIZE (1 << 20)
#define MOST	  (64 << 10)

static int fd;
static long size;

void bench_prepare(void)
{
	size = bench_number("size", 1);
	bench_file("read1", FILE_SIZE);
	fd = BENCH_TRY(open("read1", O_RDONLY));
}

#endif /* READ1_H */
