// SPDX-License-Identifier: MIT
/* lease.c - see lease.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "file/daemon.h"
#include "file/lease.h"
#include "next.h"
#include "relax/relax.h"
#include "stats.h"
#include "syscall.h"

static enum { UNARMED, ARMED, FORBIDDEN } state;
static int own_leases, distant_leases;

/* Under HELD. */
static bool lease_is_over(struct file *file)
{
	/* si_fd is the descriptor's number at the time of F_SETLEASE, so each is asked. */
	return file->guard ? !lease_holds(file)
			   : cosy_syscall3(SYS_fcntl, file->fd, F_GETLEASE, 0) != F_RDLCK;
}

/* Of a lease by the daemon: was it broken, or has it ended with the daemon? */
static enum guard lease_loss(const struct file *file)
{
	return file->guard && !cosyd_alive(file->keeper) ? GUARD_DAEMON : GUARD_READ_ONLY;
}

void lease_check(struct file *file)
{
	uint64_t word, signals;

	/* A file that is held may have taken the lease, and be about to say so. */
	word = __atomic_load_n(&file->word, __ATOMIC_SEQ_CST);
	if ((word & WORD_PLAIN) && !(word & WORD_HELD))
		return;
	word = file_hold(file, &signals);
	if (!(word & WORD_PLAIN) && file->leased && lease_is_over(file)) {
		word = file_unplug(file, word, lease_loss(file));
		if (++file->breaks >= MOST_BREAKS)
			file->unleased = true;
	}
	file_release(file, word, signals);
}

static void lease_broken(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	file_each(lease_check);
	relax_lease_broken();
}

static bool lease_arm(void)
{
	struct sigaction action = {.sa_sigaction = lease_broken,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct sigaction old;

	if (state != UNARMED)
		return state == ARMED;
	if (NEXT(sigaction)(LEASE_SIGNAL, NULL, &old))
		return false;
	/* Another thread may be here as well. */
	if (old.sa_handler != SIG_DFL && old.sa_sigaction != lease_broken) {
		state = FORBIDDEN;
		return false;
	}
	sigfillset(&action.sa_mask);
	NEXT(sigaction)(LEASE_SIGNAL, &action, NULL);
	state = ARMED;
	return true;
}

static bool lease_take_own(int fd, enum guard *why)
{
	long ret;

	*why = GUARD_LEASE_SIGNAL;
	if (!lease_arm())
		return false;
	/* Its owner would be this thread alone, and nobody when the thread has ended. */
	if (!alone())
		cosy_syscall3(SYS_fcntl, fd, F_SETOWN, cosy_syscall3(SYS_getpid, 0, 0, 0));
	/* First the signal: a lease that is broken with none set sends SIGIO, which kills. */
	cosy_syscall3(SYS_fcntl, fd, F_SETSIG, LEASE_SIGNAL);
	ret = cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_RDLCK);
	if (!ret) {
		__atomic_add_fetch(&own_leases, 1, __ATOMIC_RELAXED);
		return true;
	}
	*why = ret == -EAGAIN	? GUARD_READ_ONLY
	       : ret == -EACCES ? GUARD_LEASE_PERMITTED
				: GUARD_FS_CONSTANT;
	return false;
}

bool lease_take_kind(int fd, int kind)
{
	if (!lease_arm())
		return false;
	cosy_syscall3(SYS_fcntl, fd, F_SETSIG, LEASE_SIGNAL);
	return !cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, kind);
}

void lease_return_kind(int fd)
{
	const struct file *file = file_of(fd);

	/* Closed where nobody looks, the number may be a window's now, and the lease that file's. */
	if (file && file->leased)
		return;
	cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_UNLCK);
}

/* A distant file has to earn the difference before the daemon is asked. */
static bool lease_take_distant(struct file *file, int fd, enum guard *why)
{
	if (!file->distant && file->credit < LEASE_DISTANCE && !daemon_preferred()) {
		file->distant = true;
		*why = GUARD_EARNED;
		return false;
	}
	if (!daemon_take(file, fd, why))
		return false;
	__atomic_add_fetch(&distant_leases, 1, __ATOMIC_RELAXED);
	return true;
}

bool lease_take(struct file *file, int fd, enum guard *why)
{
	bool own_first = (alone() && !daemon_preferred()) || !daemon_there();

	file->guard = NULL;
	if (own_first) {
		if (lease_take_own(fd, why))
			return true;
		if ((*why != GUARD_LEASE_PERMITTED && *why != GUARD_LEASE_SIGNAL) ||
		    !daemon_there())
			return false;
	}
	if (lease_take_distant(file, fd, why))
		return true;
	if (own_first || *why != GUARD_LEASE_PERMITTED)
		return false;
	return lease_take_own(fd, why);
}

void lease_return(struct file *file, int fd)
{
	if (file->guard) {
		daemon_drop(file);
		__atomic_sub_fetch(&distant_leases, 1, __ATOMIC_RELAXED);
		return;
	}
	cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_UNLCK);
	__atomic_sub_fetch(&own_leases, 1, __ATOMIC_RELAXED);
}

bool lease_any(void)
{
	return lease_any_own() || __atomic_load_n(&distant_leases, __ATOMIC_RELAXED);
}

bool lease_any_own(void)
{
	return __atomic_load_n(&own_leases, __ATOMIC_RELAXED);
}

static enum guard return_why;

static void return_own(struct file *file)
{
	if (file->leased && !file->guard)
		file_plain(file, return_why, false);
}

void lease_return_own(enum guard why)
{
	return_why = why;
	file_each(return_own);
}

void lease_return_all(enum guard why)
{
	if (lease_any())
		file_plain_all(why, false);
	daemon_sync();
}

uint64_t lease_signals(uint64_t signals)
{
	return state == ARMED ? signals & ~(1ULL << (LEASE_SIGNAL - 1)) : signals;
}

bool lease_armed(void)
{
	return state == ARMED;
}

bool lease_forbidden(void)
{
	return state == FORBIDDEN;
}

void lease_forbid(void)
{
	file_share_begin(GUARD_LEASE_SIGNAL, true);
	state = FORBIDDEN;
	file_share_end();
}
