// SPDX-License-Identifier: MIT
/* cancel.c - see cancel.h. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "process/cancel.h"
#include "process/refer.h"
#include "syscall.h"

/*
 * libc's own name of pthread_cancel, which only a statically linked program can see.  Hidden, so
 * that no other has the dynamic linker look for it.
 */
extern void __pthread_cancel(void) __attribute__((weak, visibility("hidden")));

enum libcosy_cancels libcosy_cancel_used(void)
{
	static uint64_t objects_seen, objects_by_dlsym; /* of those loaded so far */
	static enum libcosy_cancels used;
	const char *const names[] = {"pthread_cancel", "dlsym", "dlvsym"};
	enum libcosy_cancels now = __atomic_load_n(&used, __ATOMIC_RELAXED);
	uint64_t seen = __atomic_load_n(&objects_seen, __ATOMIC_RELAXED);
	uint64_t by_dlsym = __atomic_load_n(&objects_by_dlsym, __ATOMIC_RELAXED);

	if (now == COSY_CANCELS_ALWAYS)
		return now;
	/* Mostly nothing is found: one look for all names. */
	if (__pthread_cancel)
		now = COSY_CANCELS_ALWAYS;
	else if (now == COSY_CANCELS_NEVER &&
		 libcosy_any_refers_to(names, 3, &seen) == COSY_REFERRED)
		now = COSY_CANCELS_AMONG_THREADS;
	if (now == COSY_CANCELS_AMONG_THREADS &&
	    libcosy_any_refers_to(names, 1, &by_dlsym) == COSY_REFERRED)
		now = COSY_CANCELS_ALWAYS;
	__atomic_store_n(&objects_seen, seen, __ATOMIC_RELAXED);
	__atomic_store_n(&objects_by_dlsym, by_dlsym, __ATOMIC_RELAXED);
	__atomic_store_n(&used, now, __ATOMIC_RELAXED);
	return now;
}

bool libcosy_is_cancellation_point(u32 number, const u64 *r)
{
	const struct cosy_call *call = cosy_call_find(number);

	if (number == SYS_fcntl)
		return r[2] == F_SETLKW || r[2] == F_OFD_SETLKW;
	return call && call->flags & COSY_CALL_CANCELS;
}

long libcosy_cancellable_call(u32 number, const u64 *r)
{
	long result;
	int type;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	result = cosy_syscall6(number, r[1], r[2], r[3], r[4], r[5], r[0]);
	pthread_setcanceltype(type, NULL);
	return result;
}
