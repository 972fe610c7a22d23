// SPDX-License-Identifier: MIT
/*
 * credentials.c - wraps calls after which this process may do less than before.  Only a user who
 * could take a lease can return it, so none is held across a change of user.  A filter of system
 * calls may end a program for one that it does not list, so after it nothing is specialised any
 * more: UNCONFINED.
 */
#include <grp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "calls/share.h"
#include "file/file.h"
#include "file/lease_thread.h"
#include "file/watchdog.h"
#include "metadata/metadata.h"
#include "next.h"
#include "vfork.h"

int capset(void *header, const void *data);

/* Makes a call that changes the rights of the process, without the thread that returns leases. */
#define RETURNED(call)                                                                             \
	({                                                                                         \
		bool entered_ = share_enter_alone(GUARD_LEASE_PERMITTED, FOR_NOW);                 \
		__typeof__(call) ret_ = (call);                                                    \
                                                                                                   \
		share_leave(entered_);                                                             \
		ret_;                                                                              \
	})

int setuid(uid_t user)
{
	return RETURNED(NEXT(setuid)(user));
}

int seteuid(uid_t user)
{
	return RETURNED(NEXT(seteuid)(user));
}

int setreuid(uid_t real, uid_t effective)
{
	return RETURNED(NEXT(setreuid)(real, effective));
}

int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	return RETURNED(NEXT(setresuid)(real, effective, saved));
}

int setfsuid(uid_t user)
{
	return RETURNED(NEXT(setfsuid)(user));
}

int setgid(gid_t group)
{
	return RETURNED(NEXT(setgid)(group));
}

int setegid(gid_t group)
{
	return RETURNED(NEXT(setegid)(group));
}

int setregid(gid_t real, gid_t effective)
{
	return RETURNED(NEXT(setregid)(real, effective));
}

int setresgid(gid_t real, gid_t effective, gid_t saved)
{
	return RETURNED(NEXT(setresgid)(real, effective, saved));
}

int setfsgid(gid_t group)
{
	return RETURNED(NEXT(setfsgid)(group));
}

int setgroups(size_t count, const gid_t *groups)
{
	return RETURNED(NEXT(setgroups)(count, groups));
}

int initgroups(const char *user, gid_t group)
{
	return RETURNED(NEXT(initgroups)(user, group));
}

int capset(void *header, const void *data)
{
	return RETURNED(NEXT(capset)(header, data));
}

/* Another user namespace has other rights. */
int unshare(int flags)
{
	if ((flags & CLONE_FILES) && !alone())
		return SHARE_NO_TABLE(NEXT(unshare)(flags));
	return RETURNED(NEXT(unshare)(flags));
}

int setns(int fd, int type)
{
	return RETURNED(NEXT(setns)(fd, type));
}

/* PR_SET_NO_NEW_PRIVS is how a filter becomes possible without rights, so one will follow. */
int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(args, unsigned long);
	va_end(args);
	switch (option) {
	case PR_SET_SECCOMP:
	case PR_SET_NO_NEW_PRIVS:
		if (vfork_in_child())
			break;
		metadata_off();
		share_forbid(GUARD_UNCONFINED);
		lease_thread_end();
		break;
	case PR_SET_PTRACER:
		if (!vfork_in_child())
			watchdog_leave_tracer();
		break;
	case PR_CAPBSET_DROP:
	case PR_CAP_AMBIENT:
	case PR_SET_SECUREBITS:
		return RETURNED(NEXT(prctl)(option, arguments[0], arguments[1], arguments[2],
					    arguments[3]));
	}
	return NEXT(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
