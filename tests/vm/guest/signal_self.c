/* SPDX-License-Identifier: MIT */
/*
 * Sends itself a signal in a region: the handler has run before the next statement has any effect.
 */
#include "check.h"
#include <sys/syscall.h>

#define ROUNDS 500

static volatile sig_atomic_t hits;
static int wire[2];

static void on_usr1(int sig)
{
	(void)sig;
	hits++;
	if (write(wire[1], "h", 1) != 1)
		hits = -1000;
}

/* Checks that the bytes on the wire are h, r, h, r ... */
static void check_order(const char *how)
{
	char seen[2 * ROUNDS];
	ssize_t len = read(wire[0], seen, sizeof(seen));
	int wrong = -1;

	CHECK(len == (ssize_t)sizeof(seen), "%s: %zd of %zu bytes", how, len, sizeof(seen));
	for (int i = 0; i < len && wrong < 0; i++)
		if (seen[i] != (i % 2 ? 'r' : 'h'))
			wrong = i;
	CHECK(wrong < 0, "%s: effect %d out of order", how, wrong);
}

static void by_kill(void)
{
	struct cosy_stats before = counts();
	int late = 0, failed = 0, me = getpid();

	hits = 0;
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		if (kill(me, SIGUSR1))
			failed++;
		if (hits != i + 1)
			late++;
		write(wire[1], "r", 1);
	}
	COSY_END;
	CHECK(!failed && !late, "kill: %d failed, %d handlers late", failed, late);
	CHECK_KERNEL(before, ROUNDS, 2 * ROUNDS);
	check_order("kill");
}

static void by_tgkill(void)
{
	struct cosy_stats before = counts();
	int late = 0, failed = 0, me = getpid(), self = gettid();

	hits = 0;
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		if (syscall(SYS_tgkill, me, self, SIGUSR1))
			failed++;
		if (hits != i + 1)
			late++;
		write(wire[1], "r", 1);
	}
	COSY_END;
	CHECK(!failed && !late, "tgkill: %d failed, %d handlers late", failed, late);
	CHECK_KERNEL(before, ROUNDS, 2 * ROUNDS);
	check_order("tgkill");
}

static void by_raise(void)
{
	struct cosy_stats before = counts();
	int late = 0, failed = 0;

	hits = 0;
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		if (raise(SIGUSR1))
			failed++;
		if (hits != i + 1)
			late++;
		write(wire[1], "r", 1);
	}
	COSY_END;
	CHECK(!failed && !late, "raise: %d failed, %d handlers late", failed, late);
	CHECK_KERNEL(before, ROUNDS, 2 * ROUNDS);
	check_order("raise");
}

/* Sends it as the last thing in a region: the handler still runs before what follows. */
static void at_the_end(void)
{
	struct cosy_stats before = counts();
	int me = getpid(), late = 0;

	hits = 0;
	for (int i = 0; i < ROUNDS; i++) {
		COSY_START;
		kill(me, SIGUSR1);
		COSY_END;
		if (hits != i + 1)
			late++;
		MUST(write(wire[1], "r", 1) == 1);
	}
	CHECK(!late, "at the end: %d handlers late", late);
	CHECK_KERNEL(before, ROUNDS, ROUNDS);
	check_order("at the end");
}

/* Blocks a signal, which waits until the region itself unblocks it. */
static void blocked(void)
{
	struct cosy_stats before = counts();
	uint64_t usr1 = 1ull << (SIGUSR1 - 1);
	int me = getpid(), early = 0, late = 0;

	hits = 0;
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, &usr1, 0, 8);
		kill(me, SIGUSR1);
		if (hits != i)
			early++;
		syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &usr1, 0, 8);
		if (hits != i + 1)
			late++;
		write(wire[1], "r", 1);
	}
	COSY_END;
	CHECK(!early && !late, "blocked: %d early, %d late", early, late);
	CHECK_KERNEL(before, ROUNDS, 4 * ROUNDS);
	check_order("blocked");
}

int main(void)
{
	MUST(!pipe(wire));
	handle(SIGUSR1, on_usr1, 0);
	by_kill();
	by_tgkill();
	by_raise();
	at_the_end();
	blocked();
	return check_end();
}
