// SPDX-License-Identifier: MIT
/* exit_signals.c - see exit_signals.h. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file/fault.h"
#include "next.h"
#include "relax/exit_signals.h"
#include "relax/relax_lease.h"
#include "syscall.h"

/* The real-time signals are deadly, too, and SIGBUS, which has its handler in fault.c. */
static const unsigned char deadly[] = {
	SIGHUP,	 SIGINT,  SIGQUIT,   SIGILL,  SIGTRAP, SIGABRT, SIGFPE,
	SIGUSR1, SIGSEGV, SIGUSR2,   SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT,
	SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGSYS,  SIGPOLL, SIGPWR,
};

static bool prepared;
static void (*settle_all)(void);

static bool is_deadly(int signal)
{
	if (signal >= SIGRTMIN && signal <= SIGRTMAX)
		return signal != RELAX_SIGNAL;
	return signal > 0 && signal < SIGRTMIN && memchr(deadly, signal, sizeof(deadly));
}

static void last_words(int signal, siginfo_t *info, void *context)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	int error = errno;

	(void)context;
	settle_all();
	NEXT(sigaction)(signal, &by_default, NULL);
	/* A fault happens again when this returns; a signal that was sent has to be sent again. */
	if (info->si_code <= 0 || (signal != SIGSEGV && signal != SIGFPE && signal != SIGILL))
		cosy_syscall3(SYS_tgkill, cosy_syscall3(SYS_getpid, 0, 0, 0),
			      cosy_syscall3(SYS_gettid, 0, 0, 0), signal);
	errno = error;
}

static bool is_last_words(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == last_words;
}

static void action_fill(struct sigaction *action)
{
	memset(action, 0, sizeof(*action));
	action->sa_sigaction = last_words;
	action->sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
}

void exit_signals_prepare(void (*settle)(void))
{
	struct sigaction action, old;

	if (prepared)
		return;
	prepared = true;
	settle_all = settle;
	fault_before_death = settle;
	fault_arm();
	action_fill(&action);
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (is_deadly(signal) && !NEXT(sigaction)(signal, NULL, &old) &&
		    old.sa_handler == SIG_DFL)
			NEXT(sigaction)(signal, &action, NULL);
}

/* True if this would set the default action, where last_words has to stay. */
static bool signal_resets(int signal, sighandler_t handler)
{
	return prepared && handler == SIG_DFL && is_deadly(signal);
}

int exit_signals_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction room;

	if (action && signal_resets(signal, action->sa_handler)) {
		action_fill(&room);
		action = &room;
	}
	if (NEXT(sigaction)(signal, action, old))
		return -1;
	if (old && is_last_words(old))
		memset(old, 0, sizeof(*old));
	return 0;
}

sighandler_t exit_signals_signal(int number, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = handler}, old;

	if (signal_resets(number, handler))
		return exit_signals_sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
	handler = NEXT(signal)(number, handler);
	return handler == (sighandler_t)(void *)last_words ? SIG_DFL : handler;
}
