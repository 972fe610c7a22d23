// SPDX-License-Identifier: MIT
/*
 * signals.c - keeps LEASE_SIGNAL from being blocked, waited for or given another meaning:
 * a writer would wait until the kernel takes the lease away, and from then on reads
 * would be stale.  The C library does the same for the signals it uses itself.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "lease.h"
#include "next.h"
#include "signals.h"

/*
 * A set that has the signal but not its neighbours was not filled: the program means this
 * very signal, and shall have it.
 */
const sigset_t *signals_without_lease(const sigset_t *set, sigset_t *room)
{
	if (!set || lease_forbidden() || sigismember(set, LEASE_SIGNAL) <= 0)
		return set;
	if (!sigismember(set, LEASE_SIGNAL - 1) || !sigismember(set, LEASE_SIGNAL + 1)) {
		lease_forbid();
		return set;
	}
	*room = *set;
	sigdelset(room, LEASE_SIGNAL);
	return room;
}

/* A new meaning for the signal.  True: it was only reset, which is not done. */
static bool kept(bool reset)
{
	if (!lease_armed())
		return false;
	if (!reset)
		lease_forbid();
	return reset;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	if (signal == LEASE_SIGNAL && lease_armed()) {
		if (!action || kept(action->sa_handler == SIG_DFL)) {
			if (old)
				memset(old, 0, sizeof(*old));
			return 0;
		}
		if (__sigaction(signal, action, old))
			return -1;
		if (old)
			memset(old, 0, sizeof(*old));
		return 0;
	}
	return __sigaction(signal, action, old);
}

sighandler_t signal(int number, sighandler_t handler)
{
	if (number == LEASE_SIGNAL && lease_armed()) {
		if (!kept(handler == SIG_DFL))
			NEXT(signal)(number, handler);
		return SIG_DFL;
	}
	return NEXT(signal)(number, handler);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return NEXT(sigprocmask)(how, how == SIG_UNBLOCK ? set : signals_without_lease(set, &room),
				 old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return NEXT(pthread_sigmask)(
		how, how == SIG_UNBLOCK ? set : signals_without_lease(set, &room), old);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t room;

	return NEXT(signalfd)(fd, signals_without_lease(set, &room), flags);
}
