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

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "bench.h"
#include "compare.h"
#include "content.h"

#define FILE_SIZE (64 << 10)

static int fd;

/* Arms a filter that refuses one call with an argument that it never has, and allows all else. */
static void filter_arm(uint32_t number)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xdeadbeef, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	BENCH_TRY(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	BENCH_TRY(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
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
		filter_arm(SYS_personality);
	else if (!strcmp(filter, "asks"))
		filter_arm(call_is("getppid") ? SYS_getppid : SYS_pread64);
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
