// SPDX-License-Identifier: MIT
/* limits.c - wraps calls by which a program limits itself, and windows with it. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "calls/share.h"
#include "file/lease_thread.h"
#include "file/policy.h"
#include "next.h"
#include "relax/relax.h"
#include "syscall.h"
#include "vfork.h"

/* The child of a vfork has limits of its own. */
static bool limits_are_ours(pid_t process)
{
	if (vfork_in_child())
		return false;
	return !process || process == cosy_syscall3(SYS_getpid, 0, 0, 0);
}

/* True if the kernel can read a number there: it reads a signal mask, then finds no such `how`. */
static bool limit_is_readable(const struct rlimit64 *limit)
{
	return cosy_syscall6(SYS_rt_sigprocmask, -1, (unsigned long)&limit->rlim_cur, 0,
			     sizeof(uint64_t), 0, 0) == -EINVAL;
}

/* Prepares for a limit below which the thread that returns leases could not fetch a descriptor. */
static void limits_before(bool ours, int resource, const struct rlimit64 *limit)
{
	relax_settle();
	if (ours && resource == RLIMIT_NOFILE && limit_is_readable(limit) &&
	    limit->rlim_cur < LEASE_THREAD_DESCRIPTORS)
		share_table_with_thread(GUARD_LEASE_THREAD);
}

static int limits_after(bool ours, int ret)
{
	if (ours)
		policy_limits_changed();
	return ret;
}

int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	bool ours = limits_are_ours(0);

	limits_before(ours, resource, limit);
	return limits_after(ours, NEXT(setrlimit64)(resource, limit));
}

OTHER_NAME(setrlimit, setrlimit64);

int prlimit64(pid_t process, enum __rlimit_resource resource, const struct rlimit64 *limit,
	      struct rlimit64 *old)
{
	bool ours = limits_are_ours(process);

	limits_before(ours, resource, limit);
	return limits_after(ours, NEXT(prlimit64)(process, resource, limit, old));
}

OTHER_NAME(prlimit, prlimit64);
