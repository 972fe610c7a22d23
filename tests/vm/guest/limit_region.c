/* SPDX-License-Identifier: MIT */
/* Checks that a region that reaches a limit still does what it should: the interpreter goes on. */
#include "check.h"
#include <sys/syscall.h>

struct limits {
	uint64_t ops, ns;
};

static void limits_set(int fd, void *arg)
{
	struct limits *limits = arg;
	struct cosy_limits l = { .size = sizeof(l),
				 .max_steps = limits->ops,
				 .max_kernel_ns = limits->ns };

	ioctl(fd, COSY_IOC_LIMITS, &l);
}

static uint64_t work(uint64_t turns, uint64_t *calls)
{
	uint64_t x = 1, made = 0;

	COSY_START;
	for (uint64_t i = 0; i < turns; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		if (i % 100 == 0 && syscall(SYS_getpid) > 0)
			made++;
	}
	COSY_END;
	*calls = made;
	return x;
}

static uint64_t expected(uint64_t turns)
{
	uint64_t x = 1;

	while (turns--)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void limited(const char *what, uint64_t turns, uint64_t ops, uint64_t ns, int status)
{
	struct limits limits = { ops, ns };
	struct cosy_stats before = counts(), after;
	uint64_t calls, x;

	each_context(limits_set, &limits);
	x = work(turns, &calls);
	CHECK(x == expected(turns) && calls == turns / 100, "%s: wrong result, %llu calls", what,
	      (unsigned long long)calls);
	after = counts();
	CHECK_KERNEL(before, 1, 1);
	if (kernel_expected() && status)
		CHECK(after.left[status] > before.left[status], "%s: the limit was not reached",
		      what);
}

int main(void)
{
	uint64_t calls;

	work(1000, &calls); /* opens the context */
	limited("no limit", 300000, 0, 0, 0);
	limited("5000 operations", 300000, 5000, 0, COSY_ENDED_STEPS);
	limited("1 operation", 300000, 1, 0, COSY_ENDED_STEPS);
	/* The kernel takes stock of time at ticks. */
	limited("1 ms", 10000000, 0, 1000000, COSY_ENDED_TIME);
	limited("no limit again", 300000, 0, 0, 0);
	return check_end();
}
