/* SPDX-License-Identifier: MIT */
/* Runs an interval timer's handler while a region computes: it must disturb nothing. */
#include "check.h"
#include <sys/syscall.h>

#define TICKS 20

static volatile sig_atomic_t ticks;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
	errno = EDOM; /* a handler that does not save errno hurts only the code that it interrupts */
}

/* Takes a step of a chain that shows any step lost, repeated or mixed up. */
static inline uint64_t step(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

static uint64_t chain(uint64_t n)
{
	uint64_t x = 1;

	while (n--)
		x = step(x);
	return x;
}

static __attribute__((noinline)) uint64_t tree(uint64_t x, int depth)
{
	if (!depth)
		return step(x);
	return tree(tree(x, depth - 1), depth - 1); /* 2^depth steps */
}

static void computing(void)
{
	struct cosy_stats before = counts(), after;
	uint64_t x = 1, n = 0;

	ticks = 0;
	alarm_us(5000, 5000);
	COSY_START;
	while (ticks < TICKS) {
		x = step(x);
		n++;
	}
	COSY_END;
	alarm_us(0, 0);
	CHECK(x == chain(n), "computing: wrong after %llu steps", (unsigned long long)n);
	CHECK_KERNEL(before, 1, 0);
	after = counts();
	if (kernel_expected())
		CHECK(after.left[COSY_LEFT_WORK] > before.left[COSY_LEFT_WORK],
		      "computing: no signal interrupted the kernel");
}

static void calling(void)
{
	struct cosy_stats before = counts();
	uint64_t x = 1, n = 0, bad = 0;
	pid_t me = getpid();

	ticks = 0;
	alarm_us(5000, 5000);
	COSY_START;
	while (ticks < TICKS) {
		x = step(x);
		n++;
		if (syscall(SYS_getpid) != me)
			bad++;
		if (close(-1) != -1)
			bad++;
	}
	COSY_END;
	alarm_us(0, 0);
	CHECK(x == chain(n), "calling: wrong after %llu steps", (unsigned long long)n);
	CHECK(bad == 0, "calling: %llu wrong results", (unsigned long long)bad);
	CHECK_KERNEL(before, 1, n);
}

static void recursing(void)
{
	struct cosy_stats before = counts();
	uint64_t x = 1, n = 0;

	ticks = 0;
	alarm_us(5000, 5000);
	COSY_START;
	while (ticks < TICKS) {
		x = tree(x, 6);
		n += 64;
	}
	COSY_END;
	alarm_us(0, 0);
	CHECK(x == chain(n), "recursing: wrong after %llu steps", (unsigned long long)n);
	CHECK_KERNEL(before, 1, 0);
}

int main(void)
{
	handle(SIGALRM, on_tick, SA_RESTART);
	computing();
	calling();
	recursing();
	return check_end();
}
