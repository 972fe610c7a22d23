// SPDX-License-Identifier: MIT
/*
 * late_signal.c - preloaded into cosy-profile: a signal that comes after the look at `stop` and
 * just before waitpid sleeps, which a test cannot hit by chance.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Times of 10 ms without a stop until the program that is watched must be asleep. */
#define QUIET 100

pid_t waitpid(pid_t pid, int *status, int options)
{
	static pid_t (*real)(pid_t, int *, int);
	static int sent;

	if (!real)
		real = (pid_t(*)(pid_t, int *, int))dlsym(RTLD_NEXT, "waitpid");
	for (int i = 0; options == __WALL && !sent && i < QUIET; i++) {
		pid_t got = real(pid, status, options | WNOHANG);

		if (got)
			return got;
		usleep(10000);
	}
	if (options == __WALL && !sent++)
		raise(SIGINT);
	return real(pid, status, options);
}
