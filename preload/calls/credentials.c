// SPDX-License-Identifier: MIT
/*
 * credentials.c - calls after which this process may do less than it could.  A lease can be
 * returned only by who could take it, so none is held across a change of user; and a
 * filter of system calls ends a program that makes another one than it says, so nothing
 * is specialised from then on: UNCONFINED.
 */
#include <sched.h>
#include <stdarg.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "calls/share.h"
#include "file/file.h"
#include "next.h"

int capset(void *header, const void *data);

#define RETURNED(call)                                                                             \
	({                                                                                         \
		__typeof__(call) ret_;                                                             \
                                                                                                   \
		file_share_begin(GUARD_LEASE_PERMITTED, false);                                    \
		ret_ = (call);                                                                     \
		file_share_end();                                                                  \
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

/* A filter follows what makes one possible without rights. */
int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS)
		file_forbid(GUARD_UNCONFINED);
	return NEXT(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
