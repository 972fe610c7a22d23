/* SPDX-License-Identifier: MIT */
/*
 * getpid [N]: call getpid N times in one region and print what it cost.
 *
 * The micro-benchmark of FSL-02-01 section 4.2: what a crossing costs.
 */
#include <cosy/cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long getpids(long n)
{
	long same = 0;
	pid_t self = getpid();

	COSY_START;
	for (long i = 0; i < n; i++)
		same += getpid() == self;
	COSY_END;
	return same;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 256;
	long same = getpids(n); /* the first run also loads the compound */
	long long start = now();

	same += getpids(n);
	long long ns = now() - start;

	printf("calls %ld ns %lld\n", same / 2, ns);
	return same != 2 * n;
}
