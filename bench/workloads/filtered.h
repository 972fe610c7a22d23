/* SPDX-License-Identifier: MIT */
/*
 * filtered.h - makes one call over and over in a process with a seccomp filter, as in a container.
 *
 * filter=none: without one.  filter=allows: the filter allows the call whatever its arguments are,
 * and has a rule about another.  filter=asks: it has a rule about the call's first argument, so
 * that the kernel runs it for each.  call= names the call.  An operation is one call.
 */
#ifndef FILTERED_H
#define FILTERED_H

#include <sys/syscall.h>

#include "../../tests/filter_arm.h"
#include "bench.h"
#include "compare.h"
#include "content.h"

#define FILE_SIZE (64 << 10)

static int fd;

/* Arms a filter that refuses one call with an argument that it never has, and allows all else. */
static void filter_refuse(uint32_t number)
{
	BENCH_TRY(filter_arm_argument(number, 0xdeadbeef, SECCOMP_RET_ERRNO | EPERM, 0));
}

static int call_is(const char *name)
{
	return !strcmp(bench_text("call", "pread"), name);
}

void bench_prepare(void)
{
	const char *filter = bench_text("filter", "none");

	bench_file("filtered", FILE_SIZE);
	fd = BENCH_TRY(open("filtered", O_RDONLY));
	if (!strcmp(filter, "allows"))
		filter_refuse(SYS_personality);
	else if (!strcmp(filter, "asks"))
		filter_refuse(call_is("getppid") ? SYS_getppid : SYS_pread64);
}

/* Returns the sum of what n calls have to bring. */
static unsigned long filtered_wanted(long n)
{
	unsigned char bytes[FILE_SIZE];
	unsigned long sum = 0;

	if (call_is("fstat"))
		return n * (unsigned long)FILE_SIZE;
	if (call_is("getppid"))
		return n * (unsigned long)getppid();
	content_bytes(bytes, "filtered", 0, FILE_SIZE);
	while (n--)
		sum += bytes[n % FILE_SIZE];
	return sum;
}

/* Compares each number of calls, which shows its last one. */
void bench_check(long n, long answer)
{
	compare_number("sum", 0, answer, filtered_wanted(n));
	for (long calls = 1; calls <= 64; calls++)
		compare_number("sum", calls, bench_again(calls), filtered_wanted(calls));
}

#endif /* FILTERED_H */
