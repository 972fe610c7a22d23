// SPDX-License-Identifier: MIT
/*
 * priority.c - wraps calls that raise a thread to a real-time priority: LEASE_THREAD.  If it never
 * sleeps, the thread that returns leases has to be above it, or a writer would wait for both.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>

#include "file/lease_thread.h"
#include "next.h"
#include "syscall.h"
#include "vfork.h"

/* True for a thread of this process, 0 being the caller's. */
static bool priority_is_ours(pid_t thread)
{
	if (vfork_in_child())
		return false;
	return !thread || !cosy_syscall3(SYS_tgkill, cosy_syscall3(SYS_getpid, 0, 0, 0), thread, 0);
}

/* Completes a call of libc's that returned `ret`.  Priorities above 0 are the real-time ones. */
static int priority_set(pid_t thread, int priority, int ret)
{
	if (!ret && priority > 0 && priority_is_ours(thread))
		lease_thread_go_above(priority);
	return ret;
}

int sched_setscheduler(pid_t thread, int policy, const struct sched_param *param)
{
	return priority_set(thread, param ? param->sched_priority : 0,
			    NEXT(sched_setscheduler)(thread, policy, param));
}

OTHER_NAME(__sched_setscheduler, sched_setscheduler);

int sched_setparam(pid_t thread, const struct sched_param *param)
{
	return priority_set(thread, param ? param->sched_priority : 0,
			    NEXT(sched_setparam)(thread, param));
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
	return priority_set(0, param->sched_priority,
			    NEXT(pthread_setschedparam)(thread, policy, param));
}

int pthread_setschedprio(pthread_t thread, int priority)
{
	return priority_set(0, priority, NEXT(pthread_setschedprio)(thread, priority));
}
