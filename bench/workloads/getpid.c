// SPDX-License-Identifier: MIT
/*
 * getpid, `calls` of them in each region: what entering the kernel costs, and how many
 * calls a compound has to make before it pays (FSL-02-01 section 4.2, figure 2).
 * An operation is one region.
 */
#include <cosy/cosy.h>

#include "bench.h"

void bench_prepare(void) {}

static long pids(long calls)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < calls; i++)
		sum += getpid() > 0;
	COSY_END;
	return sum;
}

long bench_work(long n)
{
	long calls = bench_number("calls", 256), sum = 0;

	while (n--)
		sum += pids(calls);
	return sum;
}
