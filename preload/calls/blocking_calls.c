// SPDX-License-Identifier: MIT
/*
 * blocking_calls.c - calls that wait, and that any signal handler interrupts even with SA_RESTART:
 * a broken lease would be noticed as EINTR, or as a sleep cut short.  So no lease is held
 * across them: AWAKE.  In a process with several threads the signal goes to any of them
 * and this does not help; leases are kept then.
 */
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "calls/signals.h"
#include "file/lease.h"
#include "next.h"
#include "relax/relax.h"

static void before_sleep(void)
{
	relax_sleep();
	if (lease_any_own() && alone())
		lease_return_own(GUARD_AWAKE);
}

static bool waits(const struct timespec *timeout)
{
	return !timeout || timeout->tv_sec || timeout->tv_nsec;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (timeout)
		before_sleep();
	return NEXT(poll)(fds, count, timeout);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *set)
{
	sigset_t room;

	if (waits(timeout))
		before_sleep();
	return NEXT(ppoll)(fds, count, timeout, signals_without_own(set, &room));
}

/* What _FORTIFY_SOURCE calls. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t fds_len);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *set, size_t fds_len);

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t fds_len)
{
	if (timeout)
		before_sleep();
	return NEXT(__poll_chk)(fds, count, timeout, fds_len);
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *set, size_t fds_len)
{
	sigset_t room;

	if (waits(timeout))
		before_sleep();
	return NEXT(__ppoll_chk)(fds, count, timeout, signals_without_own(set, &room), fds_len);
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
	if (!timeout || timeout->tv_sec || timeout->tv_usec)
		before_sleep();
	return NEXT(select)(count, reads, writes, exceptions, timeout);
}

int pselect(int count, fd_set *reads, fd_set *writes, fd_set *exceptions,
	    const struct timespec *timeout, const sigset_t *set)
{
	sigset_t room;

	if (waits(timeout))
		before_sleep();
	return NEXT(pselect)(count, reads, writes, exceptions, timeout,
			     signals_without_own(set, &room));
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
	if (timeout)
		before_sleep();
	return NEXT(epoll_wait)(epoll, events, count, timeout);
}

int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *set)
{
	sigset_t room;

	if (timeout)
		before_sleep();
	return NEXT(epoll_pwait)(epoll, events, count, timeout, signals_without_own(set, &room));
}

int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
		 const sigset_t *set)
{
	sigset_t room;

	if (waits(timeout))
		before_sleep();
	return NEXT(epoll_pwait2)(epoll, events, count, timeout, signals_without_own(set, &room));
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	before_sleep();
	return NEXT(nanosleep)(time, left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	before_sleep();
	return NEXT(clock_nanosleep)(clock, flags, time, left);
}

int usleep(useconds_t time)
{
	before_sleep();
	return NEXT(usleep)(time);
}

int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	before_sleep();
	return NEXT(thrd_sleep)(time, left);
}

unsigned int sleep(unsigned int time)
{
	before_sleep();
	return NEXT(sleep)(time);
}

int pause(void)
{
	before_sleep();
	return NEXT(pause)();
}

int sigsuspend(const sigset_t *set)
{
	sigset_t room;

	before_sleep();
	return NEXT(sigsuspend)(signals_without_own(set, &room));
}

int sigwait(const sigset_t *set, int *signal)
{
	sigset_t room;

	before_sleep();
	return NEXT(sigwait)(signals_without_own(set, &room), signal);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t room;

	before_sleep();
	return NEXT(sigwaitinfo)(signals_without_own(set, &room), info);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	sigset_t room;

	if (waits(timeout))
		before_sleep();
	return NEXT(sigtimedwait)(signals_without_own(set, &room), info, timeout);
}
