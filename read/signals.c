// SPDX-License-Identifier: MIT
/*
 * signals.c - keeps LEASE_SIGNAL from being blocked, waited for or given another meaning:
 * a writer would wait until the kernel takes the lease away, and from then on reads
 * would be stale.  The C library does the same for the signals it uses itself.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include "lease.h"
#include "next.h"

/*
 * `set` without the signal; `room` is for a changed copy.  A set that has it but not its
 * neighbours was not filled: the program means this very signal, and shall have it.
 */
static const sigset_t *without(const sigset_t *set, sigset_t *room)
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

	return NEXT(sigprocmask)(how, how == SIG_UNBLOCK ? set : without(set, &room), old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return NEXT(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : without(set, &room), old);
}

int sigsuspend(const sigset_t *set)
{
	sigset_t room;

	return NEXT(sigsuspend)(without(set, &room));
}

int sigwait(const sigset_t *set, int *signal)
{
	sigset_t room;

	return NEXT(sigwait)(without(set, &room), signal);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t room;

	return NEXT(sigwaitinfo)(without(set, &room), info);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	sigset_t room;

	return NEXT(sigtimedwait)(without(set, &room), info, timeout);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t room;

	return NEXT(signalfd)(fd, without(set, &room), flags);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *set)
{
	sigset_t room;

	return NEXT(ppoll)(fds, count, timeout, without(set, &room));
}

int pselect(int count, fd_set *reads, fd_set *writes, fd_set *exceptions,
	    const struct timespec *timeout, const sigset_t *set)
{
	sigset_t room;

	return NEXT(pselect)(count, reads, writes, exceptions, timeout, without(set, &room));
}

int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *set)
{
	sigset_t room;

	return NEXT(epoll_pwait)(epoll, events, count, timeout, without(set, &room));
}
