// SPDX-License-Identifier: MIT
/* relax_lease.c - see relax_lease.h. */
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>

#include "file/file.h"
#include "mask.h"
#include "next.h"
#include "relax/relax_lease.h"
#include "syscall.h"

static enum { UNARMED, ARMED, FORBIDDEN } state;

static void (*when_broken)(void);

static void signal_lease_broken(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	when_broken();
}

static bool lease_arm(void)
{
	struct sigaction action = {.sa_sigaction = signal_lease_broken,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct sigaction old;

	if (state != UNARMED)
		return state == ARMED;
	if (NEXT(sigaction)(RELAX_SIGNAL, NULL, &old))
		return false;
	if (old.sa_handler != SIG_DFL) {
		state = FORBIDDEN;
		return false;
	}
	sigfillset(&action.sa_mask);
	NEXT(sigaction)(RELAX_SIGNAL, &action, NULL);
	state = ARMED;
	mask_handle(RELAX_SIGNAL);
	return true;
}

bool relax_lease_take(int fd, int kind, void (*broken)(void))
{
	when_broken = broken;
	if (!lease_arm())
		return false;
	/* Set the signal first: a lease that is broken before sends SIGIO, which kills. */
	cosy_syscall3(SYS_fcntl, fd, F_SETSIG, RELAX_SIGNAL);
	if (!cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, kind))
		return true;
	cosy_syscall3(SYS_fcntl, fd, F_SETSIG, 0);
	return false;
}

void relax_lease_return(int fd)
{
	const struct file *file = file_of(fd);

	/*
	 * fd may have been closed unseen and reused for a specialised file, whose lease must stay.
	 */
	if (file && file->leased)
		return;
	cosy_syscall3(SYS_fcntl, fd, F_SETLEASE, F_UNLCK);
}

bool relax_lease_armed(void)
{
	return state == ARMED;
}

bool relax_lease_forbidden(void)
{
	return state == FORBIDDEN;
}

void relax_lease_forbid(void)
{
	state = FORBIDDEN;
	mask_forget(RELAX_SIGNAL);
}
