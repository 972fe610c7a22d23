// SPDX-License-Identifier: MIT
/*
 * late_signal.c - preloaded into cosy-profile: a signal that comes after the look at `stop` and
 * just before waitid sleeps, which a test cannot hit by chance.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Times of 10 ms without a stop until the program that is watched must be asleep. */
#define QUIET 100

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	static int (*real)(idtype_t, id_t, siginfo_t *, int);
	static int sent;

	if (!real)
		real = (int (*)(idtype_t, id_t, siginfo_t *, int))dlsym(RTLD_NEXT, "waitid");
	for (int i = 0; options & __WALL && !sent && i < QUIET; i++) {
		info->si_pid = 0;
		if (real(type, id, info, options | WNOHANG) || info->si_pid)
			return info->si_pid ? 0 : -1;
		usleep(10000);
	}
	if (options & __WALL && !sent++)
		raise(SIGINT);
	return real(type, id, info, options);
}
