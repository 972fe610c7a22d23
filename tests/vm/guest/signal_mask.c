/* SPDX-License-Identifier: MIT */
/*
 * Tests ppoll and sigsuspend, which exchange the signal mask for the time of the call: the handler
 * of a signal that only the call lets in has run when it returns, with the call's mask in force,
 * and the old mask is back afterwards.
 */
#include "check.h"
#include <poll.h>
#include <sys/syscall.h>

#define USR1   (1ull << (SIGUSR1 - 1))
#define USR2   (1ull << (SIGUSR2 - 1))
#define ROUNDS 100

static volatile sig_atomic_t hits, bad_mask;

static uint64_t mask_now(void)
{
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, 8);
	return mask;
}

static void on_usr1(int sig)
{
	(void)sig;
	hits++;
	/* USR1 itself is blocked in its handler; USR2 shows that the call's mask is in force. */
	if ((mask_now() & (USR1 | USR2)) != (USR1 | USR2))
		bad_mask++;
}

static void by_ppoll(void)
{
	struct cosy_stats before = counts();
	uint64_t in_call = USR2;
	int me = getpid(), early = 0, late = 0, wrong = 0;

	hits = bad_mask = 0;
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		struct timespec hour = { 3600, 0 };

		kill(me, SIGUSR1);
		if (hits != i)
			early++;
		if (syscall(SYS_ppoll, 0, 0, &hour, &in_call, 8) != -1 || errno != EINTR)
			wrong++;
		if (hits != i + 1)
			late++;
	}
	COSY_END;
	CHECK(!early && !late && !wrong, "ppoll: %d early, %d late, %d wrong results", early, late,
	      wrong);
	CHECK(!bad_mask, "ppoll: %d handlers ran with another mask", (int)bad_mask);
	CHECK(mask_now() & USR1, "ppoll: USR1 is not blocked any more");
	CHECK(!(mask_now() & USR2), "ppoll: USR2 stayed blocked");
	CHECK_KERNEL(before, ROUNDS, 2 * ROUNDS);
}

static void by_sigsuspend(void)
{
	struct cosy_stats before = counts();
	uint64_t in_call = USR2;
	int me = getpid(), early = 0, late = 0, wrong = 0;

	hits = bad_mask = 0;
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		kill(me, SIGUSR1);
		if (hits != i)
			early++;
		if (syscall(SYS_rt_sigsuspend, &in_call, 8) != -1 || errno != EINTR)
			wrong++;
		if (hits != i + 1)
			late++;
	}
	COSY_END;
	CHECK(!early && !late && !wrong, "sigsuspend: %d early, %d late, %d wrong results", early,
	      late, wrong);
	CHECK(!bad_mask, "sigsuspend: %d handlers ran with another mask", (int)bad_mask);
	CHECK(mask_now() & USR1, "sigsuspend: USR1 is not blocked any more");
	CHECK_KERNEL(before, ROUNDS, 2 * ROUNDS);
}

/* Lets ppoll end by itself: the blocked signal stays pending, the mask is back. */
static void ppoll_ready(void)
{
	struct cosy_stats before = counts();
	uint64_t in_call = USR1 | USR2;
	int me = getpid(), wire[2], wrong = 0;

	MUST(!pipe(wire));
	MUST(write(wire[1], "x", 1) == 1);
	hits = 0;
	kill(me, SIGUSR1);
	COSY_START;
	for (int i = 0; i < ROUNDS; i++) {
		struct pollfd p = { wire[0], POLLIN, 0 };
		struct timespec hour = { 3600, 0 };

		if (syscall(SYS_ppoll, &p, 1, &hour, &in_call, 8) != 1 || p.revents != POLLIN)
			wrong++;
	}
	COSY_END;
	CHECK(!wrong && !hits, "ppoll, ready: %d wrong results, %d handlers", wrong, (int)hits);
	CHECK((mask_now() & (USR1 | USR2)) == USR1, "ppoll, ready: another mask afterwards");
	CHECK_KERNEL(before, 1, ROUNDS);
}

int main(void)
{
	uint64_t usr1 = USR1;

	handle(SIGUSR1, on_usr1, 0);
	MUST(!syscall(SYS_rt_sigprocmask, SIG_BLOCK, &usr1, NULL, 8));
	by_ppoll();
	by_sigsuspend();
	ppoll_ready();
	return check_end();
}
