// SPDX-License-Identifier: MIT
/*
 * getpid, `calls` of them in each region: what entering the kernel costs, and how many
 * calls a compound has to make before it pays (FSL-02-01 section 4.2, figure 2).
 * An operation is one region.
 */
#include <cosy/cosy.h>

#include "bench.h"
#include "compare.h"

void bench_prepare(void) {}

/* Returns the sum of the calls' results. */
static unsigned long pids(long calls)
{
	unsigned long sum = 0;

	COSY_START;
	for (long i = 0; i < calls; i++)
		sum += (unsigned int)getpid();
	COSY_END;
	return sum;
}

long bench_work(long n)
{
	long calls = bench_number("calls", 256), regions = n;
	unsigned long sum = 0;

	while (n--)
		sum += pids(calls);
	/* This is the number of calls, if each returned what it should. */
	return sum - regions * calls * (getpid() - 1ul);
}

void bench_check(long n, long answer)
{
	compare_number("the calls' results", 0, answer, n * bench_number("calls", 256));
	for (long calls = 1; calls <= 16; calls++)
		compare_number("the calls' results", calls, pids(calls) - calls * (getpid() - 1ul),
			       calls);
}
