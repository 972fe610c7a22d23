// SPDX-License-Identifier: MIT
/*
 * blocking_calls.c - wraps calls that wait, under --relax.  The signal of a broken lease would cut
 * them short, since any handler interrupts them even with SA_RESTART.  So each wrapper first hands
 * over what is coalesced and returns the lease.  (calls/signals.c wraps the calls that set a mask
 * while they wait.)
 */
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "next.h"
#include "relax/relax.h"
#include "calls/signals.h"

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (timeout)
		relax_sleep();
	return NEXT(poll)(fds, count, timeout);
}

/* Called by _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t fds_len);

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t fds_len)
{
	if (timeout)
		relax_sleep();
	return NEXT(__poll_chk)(fds, count, timeout, fds_len);
}

int select(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
	if (!timeout || timeout->tv_sec || timeout->tv_usec)
		relax_sleep();
	return NEXT(select)(count, reads, writes, exceptions, timeout);
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
	if (timeout)
		relax_sleep();
	return NEXT(epoll_wait)(epoll, events, count, timeout);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	relax_sleep();
	return NEXT(nanosleep)(time, left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	relax_sleep();
	return NEXT(clock_nanosleep)(clock, flags, time, left);
}

int usleep(useconds_t time)
{
	relax_sleep();
	return NEXT(usleep)(time);
}

int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	relax_sleep();
	return NEXT(thrd_sleep)(time, left);
}

unsigned int sleep(unsigned int time)
{
	relax_sleep();
	return NEXT(sleep)(time);
}

int pause(void)
{
	relax_sleep();
	return NEXT(pause)();
}

int sigwait(const sigset_t *set, int *signal)
{
	sigset_t room;

	relax_sleep();
	return NEXT(sigwait)(signals_without_own(set, &room), signal);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t room;

	relax_sleep();
	return NEXT(sigwaitinfo)(signals_without_own(set, &room), info);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	sigset_t room;

	if (timeout_waits(timeout))
		relax_sleep();
	return NEXT(sigtimedwait)(signals_without_own(set, &room), info, timeout);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t room;

	return NEXT(signalfd)(fd, signals_without_own(set, &room), flags);
}
