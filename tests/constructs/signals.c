// SPDX-License-Identifier: MIT
// A handler runs at once for a signal raised in a region, and its flag ends a
// loop; a masked signal waits; a signal of libc's own is refused.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t flag, order;

static void handler(int sig)
{
	order = order * 10 + (sig == SIGUSR1 ? 1 : 2);
	flag = 1;
}

int main(void)
{
	int seen[4] = {0}, kept[2] = {0}, error = 0;
	unsigned long spins = 0;
	sigset_t set, old;

	signal(SIGUSR1, handler);
	signal(SIGALRM, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	COSY_START;
	raise(SIGUSR1);
	seen[0] = flag;
	flag = 0;
	kill(getpid(), SIGUSR1);
	seen[1] = flag;
	flag = 0;
	sigprocmask(SIG_BLOCK, &set, &old);
	raise(SIGUSR1);
	seen[2] = flag;
	sigprocmask(SIG_SETMASK, &old, NULL);
	seen[3] = flag;
	flag = 0;
	struct itimerval soon = {.it_value = {0, 20000}};
	setitimer(ITIMER_REAL, &soon, NULL);
	while (!flag)
		spins++;
	kept[0] = raise(32);
	kept[1] = raise(33);
	error = errno;
	COSY_END;
	printf("%d %d %d %d order %d spun %d\n", seen[0], seen[1], seen[2], seen[3], (int)order,
	       spins > 0);
	printf("%d %d errno %d\n", kept[0], kept[1], error);
	return 0;
}
