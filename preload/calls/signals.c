// SPDX-License-Identifier: MIT
/*
 * signals.c - keeps LEASE_SIGNAL from being blocked, waited for or given another meaning:
 * a writer would wait until the kernel takes the lease away, and from then on reads
 * would be stale.  The same for SIGBUS, once there are mapped windows: blocked, it would
 * kill.  The C library does so for the signals it uses itself.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "calls/signals.h"
#include "file/fault.h"
#include "file/lease.h"
#include "next.h"
#include "relax/relax.h"

/* The signals that this library uses, or might come to use. */
static bool wanted(int signal)
{
	return signal == SIGBUS ? fault_armed() : !lease_forbidden();
}

/* Those that it has a handler for. */
static bool armed(int signal)
{
	return signal == SIGBUS ? fault_armed() : signal == LEASE_SIGNAL && lease_armed();
}

static void forbid(int signal)
{
	if (signal == SIGBUS)
		fault_forbid();
	else
		lease_forbid();
}

/*
 * A set that has the signal but not its neighbours was not filled: the program means this
 * very signal, and shall have it.
 */
static bool filled(const sigset_t *set, int signal)
{
	return sigismember(set, signal - 1) && sigismember(set, signal + 1);
}

const sigset_t *signals_without_own(const sigset_t *set, sigset_t *room)
{
	static const int own[] = {LEASE_SIGNAL, SIGBUS};

	if (!set)
		return set;
	for (int i = 0; i < 2; i++) {
		if (sigismember(set, own[i]) <= 0 || !wanted(own[i]))
			continue;
		if (!filled(set, own[i])) {
			forbid(own[i]);
			continue;
		}
		if (set != room)
			*room = *set;
		set = room;
		sigdelset(room, own[i]);
	}
	return set;
}

/* A new meaning for such a signal.  True: it was only reset, which is not done. */
static bool kept(int signal, bool reset)
{
	if (!reset)
		forbid(signal);
	return reset;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction room;
	int ret;

	if (!armed(signal) && action) {
		/* A handler may run for long, or be left by longjmp with its mask. */
		room = *action;
		room.sa_mask = *signals_without_own(&action->sa_mask, &room.sa_mask);
		action = &room;
	}
	if (!armed(signal))
		return relax_sigaction(signal, action, old);
	ret = !action || kept(signal, action->sa_handler == SIG_DFL)
		      ? 0
		      : NEXT(sigaction)(signal, action, old);
	if (!ret && old)
		memset(old, 0, sizeof(*old));
	return ret;
}

sighandler_t signal(int number, sighandler_t handler)
{
	if (!armed(number))
		return relax_signal(number, handler);
	if (!kept(number, handler == SIG_DFL))
		NEXT(signal)(number, handler);
	return SIG_DFL;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return NEXT(sigprocmask)(how, how == SIG_UNBLOCK ? set : signals_without_own(set, &room),
				 old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return NEXT(pthread_sigmask)(
		how, how == SIG_UNBLOCK ? set : signals_without_own(set, &room), old);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t room;

	return NEXT(signalfd)(fd, signals_without_own(set, &room), flags);
}
