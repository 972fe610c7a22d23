// SPDX-License-Identifier: MIT
/* lease.c - see lease.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "lease.h"
#include "next.h"
#include "stats.h"
#include "syscall.h"

static enum { UNARMED, ARMED, FORBIDDEN } state;
static int leases;

/* A lease of this file, or of another one, is being broken. */
static void lease_check(struct file *file)
{
	uint64_t word, signals;

	/* A file that is held may have taken the lease, and be about to say so. */
	word = __atomic_load_n(&file->word, __ATOMIC_SEQ_CST);
	if ((word & WORD_PLAIN) && !(word & WORD_HELD))
		return;
	word = file_hold(file, &signals);
	/* si_fd is the descriptor's number at the time of F_SETLEASE, so each is asked. */
	if (!(word & WORD_PLAIN) && cosy_syscall3(SYS_fcntl, file->fd, F_GETLEASE, 0) != F_RDLCK) {
		word = file_unplug(file, word, GUARD_READ_ONLY);
		if (++file->breaks >= MOST_BREAKS)
			file->forever = true;
	}
	file_release(file, word, signals);
}

static void lease_broken(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	file_each(lease_check);
}

static bool lease_arm(void)
{
	struct sigaction action = {.sa_sigaction = lease_broken,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct sigaction old;

	if (state != UNARMED)
		return state == ARMED;
	if (__sigaction(LEASE_SIGNAL, NULL, &old))
		return false;
	/* Another thread may be here as well. */
	if (old.sa_handler != SIG_DFL && old.sa_sigaction != lease_broken) {
		state = FORBIDDEN;
		return false;
	}
	sigfillset(&action.sa_mask);
	__sigaction(LEASE_SIGNAL, &action, NULL);
	state = ARMED;
	return true;
}

bool lease_take(int fd, enum guard *why)
{
	long ret;

	*why = GUARD_LEASE_SIGNAL;
	if (!lease_arm())
		return false;
	/* Its owner would be this thread alone, and nobody when the thread has ended. */
	if (!__libc_single_threaded)
		cosy_syscall3(SYS_fcntl, fd, F_SETOWN, cosy_syscall3(SYS_getpid, 0, 0, 0));
	/* First the signal: a lease that is broken with none set sends SIGIO, which kills. */
	cosy_syscall3(SYS_fcntl, fd, F_SETSIG, LEASE_SIGNAL);
	ret = cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_RDLCK);
	if (!ret) {
		__atomic_add_fetch(&leases, 1, __ATOMIC_RELAXED);
		return true;
	}
	*why = ret == -EAGAIN	? GUARD_READ_ONLY
	       : ret == -EACCES ? GUARD_LEASE_PERMITTED
				: GUARD_FS_CONSTANT;
	return false;
}

void lease_return(int fd)
{
	cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_UNLCK);
	__atomic_sub_fetch(&leases, 1, __ATOMIC_RELAXED);
}

bool lease_any(void)
{
	return __atomic_load_n(&leases, __ATOMIC_RELAXED);
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
