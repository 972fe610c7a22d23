// SPDX-License-Identifier: MIT
/*
 * signals.c - keeps the signals that the library uses from being blocked or given another
 * meaning: SIGBUS, once there are mapped windows, since blocked it would kill; and under --relax
 * RELAX_SIGNAL (relax_lease.h), since a writer would wait until the kernel takes the lease away.
 * The C library does so for the signals it uses itself.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "file/fault.h"
#include "file/map.h"
#include "next.h"
#include "relax/relax.h"
#include "calls/signals.h"

#ifdef COSY_RELAX
static const int own[] = {SIGBUS, RELAX_SIGNAL};
#else
static const int own[] = {SIGBUS};
#endif

#define OWN (sizeof(own) / sizeof(*own))

/* True for signals that this library uses, or might come to use. */
static bool signal_is_wanted(int signal)
{
#ifdef COSY_RELAX
	if (signal == RELAX_SIGNAL)
		return !relax_lease_forbidden();
#endif
	return signal == SIGBUS && fault_armed();
}

/* True if the program has a handler for this signal. */
static bool signal_is_armed(int signal)
{
#ifdef COSY_RELAX
	if (signal == RELAX_SIGNAL)
		return relax_lease_armed();
#endif
	return signal == SIGBUS && fault_armed();
}

static void signal_forbid(int signal)
{
#ifdef COSY_RELAX
	if (signal == RELAX_SIGNAL) {
		relax_end();
		relax_lease_forbid();
	}
#endif
	if (signal == SIGBUS) {
		fault_forbid();
		map_forbid(GUARD_FAULT_SIGNAL);
	}
}

/*
 * True if the set has the signal's neighbours, too, as after sigfillset.  Without them the program
 * means this very signal, and shall have it.
 */
static bool set_is_filled(const sigset_t *set, int signal)
{
	return sigismember(set, signal - 1) && sigismember(set, signal + 1);
}

const sigset_t *signals_without_own(const sigset_t *set, sigset_t *room)
{
	if (!set)
		return set;
	for (size_t i = 0; i < OWN; i++) {
		if (sigismember(set, own[i]) <= 0 || !signal_is_wanted(own[i]))
			continue;
		if (!set_is_filled(set, own[i])) {
			signal_forbid(own[i]);
			continue;
		}
		if (set != room)
			*room = *set;
		set = room;
		sigdelset(room, own[i]);
	}
	return set;
}

/* Prepares for a new meaning of such a signal.  True: it is only reset, and stays as it is. */
static bool signal_is_kept(int signal, bool reset)
{
	if (!reset)
		signal_forbid(signal);
	return reset;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction room;
	int ret;

	if (!signal_is_armed(signal) && action) {
		/* A handler may run for long, or be left by longjmp and keep its mask. */
		room = *action;
		room.sa_mask = *signals_without_own(&action->sa_mask, &room.sa_mask);
		action = &room;
	}
	if (!signal_is_armed(signal))
		return relax_sigaction(signal, action, old);
	ret = !action || signal_is_kept(signal, action->sa_handler == SIG_DFL)
		      ? 0
		      : NEXT(sigaction)(signal, action, old);
	if (!ret && old)
		memset(old, 0, sizeof(*old));
	return ret;
}

sighandler_t signal(int number, sighandler_t handler)
{
	if (!signal_is_armed(number))
		return relax_signal(number, handler);
	if (!signal_is_kept(number, handler == SIG_DFL))
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

/* The older functions, which are deprecated. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define BIT(signal) (1 << ((signal) - 1))

/* Does the same for a mask of the older kind, which has the first signals only. */
static int mask_without_own(int mask)
{
	if (!(mask & BIT(SIGBUS)) || !signal_is_wanted(SIGBUS))
		return mask;
	if ((mask & BIT(SIGBUS - 1)) && (mask & BIT(SIGBUS + 1)))
		return mask & ~BIT(SIGBUS);
	signal_forbid(SIGBUS);
	return mask;
}

int sigblock(int mask)
{
	return NEXT(sigblock)(mask_without_own(mask));
}

int sigsetmask(int mask)
{
	return NEXT(sigsetmask)(mask_without_own(mask));
}

int sighold(int signal)
{
	if (signal_is_wanted(signal))
		signal_forbid(signal);
	return NEXT(sighold)(signal);
}

sighandler_t sigset(int signal, sighandler_t handler)
{
	if (signal_is_wanted(signal) && handler != SIG_DFL)
		signal_forbid(signal);
	return NEXT(sigset)(signal, handler);
}

#pragma GCC diagnostic pop

/* The next calls set a mask while they wait, which handlers that run meanwhile have, too. */

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *set)
{
	sigset_t room;

	if (timeout_waits(timeout))
		relax_sleep();
	return NEXT(ppoll)(fds, count, timeout, signals_without_own(set, &room));
}

/* Called by _FORTIFY_SOURCE. */
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *set, size_t fds_len);

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *set, size_t fds_len)
{
	sigset_t room;

	if (timeout_waits(timeout))
		relax_sleep();
	return NEXT(__ppoll_chk)(fds, count, timeout, signals_without_own(set, &room), fds_len);
}

int pselect(int count, fd_set *reads, fd_set *writes, fd_set *exceptions,
	    const struct timespec *timeout, const sigset_t *set)
{
	sigset_t room;

	if (timeout_waits(timeout))
		relax_sleep();
	return NEXT(pselect)(count, reads, writes, exceptions, timeout,
			     signals_without_own(set, &room));
}

int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *set)
{
	sigset_t room;

	if (timeout)
		relax_sleep();
	return NEXT(epoll_pwait)(epoll, events, count, timeout, signals_without_own(set, &room));
}

int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
		 const sigset_t *set)
{
	sigset_t room;

	if (timeout_waits(timeout))
		relax_sleep();
	return NEXT(epoll_pwait2)(epoll, events, count, timeout, signals_without_own(set, &room));
}

int sigsuspend(const sigset_t *set)
{
	sigset_t room;

	relax_sleep();
	return NEXT(sigsuspend)(signals_without_own(set, &room));
}
