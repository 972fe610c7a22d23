/* SPDX-License-Identifier: MIT */
/*
 * Deep recursion in a region works as far as the stack reaches; recursion
 * without end is a stack overflow, SIGSEGV as in plain code.
 */
#include "fault.h"
#include <sys/resource.h>

#define LEVELS 100000

static volatile int endless = 1;
static volatile uint64_t deepest;

/* Works after the recursive call, so that no compiler makes a loop of it. */
static __attribute__((noinline)) uint64_t down(uint64_t n, uint64_t last, uint64_t *at)
{
	uint64_t below;

	if (n == last) {
		*at = n;
		return 1;
	}
	below = down(n + 1, last, at);
	return below * 31 + n + (n % 1000 ? 0 : (uint64_t)(getpid() > 0));
}

static uint64_t expected(uint64_t last)
{
	uint64_t value = 1;

	for (uint64_t n = last; n-- > 0;)
		value = value * 31 + n + (n % 1000 ? 0 : 1);
	return value;
}

static __attribute__((noinline)) uint64_t fall(uint64_t n)
{
	deepest = n;
	if (!endless)
		return n;
	return fall(n + 1) + deepest;
}

static void overflow(volatile void *p)
{
	uint64_t got;

	(void)p;
	COSY_START;
	got = fall(1);
	COSY_END;
	fault_seen.value = got;
}

int main(void)
{
	/* Plain code needs a stack of its own for this. */
	struct rlimit limit = { 24 << 20, 24 << 20 }, now;
	stack_t alternative = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	uint64_t value, at = 0;
	struct cosy_stats before;
	struct outcome outcome;

	MUST(!getrlimit(RLIMIT_STACK, &now));
	if (now.rlim_cur < limit.rlim_cur && !getenv("FAULT_STACK_AGAIN")) {
		if (now.rlim_max < limit.rlim_max)
			SKIP("the stack may not be %lu MB", (unsigned long)limit.rlim_cur >> 20);
		limit.rlim_max = now.rlim_max;
		MUST(!setrlimit(RLIMIT_STACK, &limit));
		setenv("FAULT_STACK_AGAIN", "1", 1);
		execl("/proc/self/exe", "fault_stack", (char *)NULL);
		MUST(!"exec");
	}
	before = counts();
	COSY_START;
	value = down(0, LEVELS, &at);
	COSY_END;
	CHECK(value == expected(LEVELS) && at == LEVELS, "down: %llu, depth %llu",
	      (unsigned long long)value, (unsigned long long)at);
	CHECK_KERNEL(before, 1, LEVELS / 1000 - 1);

	MUST(!sigaltstack(&alternative, NULL));
	fault_catch();
	for (int i = 0; i < 2; i++) {
		outcome = fault_try(overflow, NULL);
		CHECK(outcome.sig == SIGSEGV, "overflow: signal %d, value %llu", outcome.sig,
		      (unsigned long long)outcome.value);
		CHECK(deepest > LEVELS, "overflow: after %llu levels", (unsigned long long)deepest);
	}
	printf("overflow after %llu levels\n", (unsigned long long)deepest);
	before = counts();
	COSY_START;
	value = down(0, 1000, &at);
	COSY_END;
	CHECK(value == expected(1000), "after the overflow: %llu", (unsigned long long)value);
	CHECK_KERNEL(before, 1, 1);
	return check_end();
}
