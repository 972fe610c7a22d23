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

int capset(void *header, const void *data);

/* Also ends the thread that returns leases, which would go on as the former user. */
#define RETURNED(call)                                                                             \
	({                                                                                         \
		bool mine_ = !share_in_vfork_child();                                              \
		__typeof__(call) ret_;                                                             \
                                                                                                   \
		if (mine_) {                                                                       \
			file_share_begin(GUARD_LEASE_PERMITTED, FOR_NOW);                          \
			lease_thread_end();                                                        \
		}                                                                                  \
		ret_ = (call);                                                                     \
		if (mine_)                                                                         \
			file_share_end();                                                          \
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
		if (share_in_vfork_child())
			break;
		metadata_off();
		file_forbid(GUARD_UNCONFINED);
		lease_thread_end();
		break;
	case PR_SET_PTRACER:
		if (!share_in_vfork_child())
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
