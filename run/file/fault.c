// SPDX-License-Identifier: MIT
/* fault.c - see fault.h. */
#include <sys/syscall.h>
#include <ucontext.h>

#include "file/fault.h"
#include "mask.h"
#include "next.h"

static enum { UNARMED, ARMED, FORBIDDEN } state;

void (*fault_before_death)(void);

/*
 * fault_copy copies by one instruction (arch/).  To give up in the middle, the handler goes on
 * after it, so it has to know both addresses.
 */
extern const char fault_copying[] __attribute__((visibility("hidden")));
extern const char fault_copied[] __attribute__((visibility("hidden")));

/* Lets any other fault have the effect that it has without a handler. */
static void fault_elsewhere(siginfo_t *info)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	if (fault_before_death)
		fault_before_death();
	NEXT(sigaction)(SIGBUS, &action, NULL);
	cosy_syscall6(SYS_rt_tgsigqueueinfo, cosy_syscall3(SYS_getpid, 0, 0, 0),
		      cosy_syscall3(SYS_gettid, 0, 0, 0), SIGBUS, (unsigned long)info, 0, 0);
}

static void fault_handler(int signal, siginfo_t *info, void *context)
{
	greg_t *ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	if (info->si_code > 0 && *ip == (greg_t)fault_copying)
		*ip = (greg_t)fault_copied;
	else
		fault_elsewhere(info);
}

bool fault_arm(void)
{
	struct sigaction action = {.sa_sigaction = fault_handler,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct sigaction old;

	if (state != UNARMED)
		return state == ARMED;
	if (NEXT(sigaction)(SIGBUS, NULL, &old))
		return false;
	/* Another thread may be here as well. */
	if (old.sa_handler != SIG_DFL && old.sa_sigaction != fault_handler) {
		state = FORBIDDEN;
		return false;
	}
	sigfillset(&action.sa_mask);
	NEXT(sigaction)(SIGBUS, &action, NULL);
	state = ARMED;
	mask_handle(SIGBUS);
	return true;
}

bool fault_armed(void)
{
	return state == ARMED;
}

void fault_forbid(void)
{
	state = FORBIDDEN;
	mask_forget(SIGBUS);
}
