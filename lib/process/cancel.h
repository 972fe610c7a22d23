/* SPDX-License-Identifier: MIT */
/*
 * cancel.h - pthread_cancel of threads that run compounds.
 *
 * libc cancels a thread only in its cancellation points, functions that may wait.  A compound's
 * calls are raw ones.  So while a compound is in a RUN or in such a call, libcosy lets libc cancel
 * the thread at once.  A thread that is cancelled anywhere else in a compound first runs it up to
 * the next cancellation point (run.c).  Nothing of this is done where no object of the process
 * refers to pthread_cancel, or to dlsym, by which others come to it; nor, of the latter, while the
 * process has a single thread.
 */
#ifndef COSY_LIB_CANCEL_H
#define COSY_LIB_CANCEL_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/single_threaded.h>

#include "../../core/core.h"

/* When a thread may be cancelled. */
enum libcosy_cancels {
	COSY_CANCELS_NEVER,
	COSY_CANCELS_AMONG_THREADS, /* while the process has several */
	COSY_CANCELS_ALWAYS,
};

/*
 * Tells when the threads of this process may be cancelled, by what its objects refer to; asked anew
 * when others have been loaded since.  Locks the dynamic linker's list; not async-signal-safe.
 */
enum libcosy_cancels libcosy_cancel_used(void);

/* True if a thread with these thread->cancels may be cancelled now. */
static inline bool libcosy_may_be_cancelled(enum libcosy_cancels cancels)
{
	return cancels == COSY_CANCELS_ALWAYS ||
	       (cancels == COSY_CANCELS_AMONG_THREADS && !__libc_single_threaded);
}

/*
 * True if libc's function for this call is a cancellation point; its arguments are r[1] up.
 */
bool libcosy_is_cancellation_point(u32 number, const u64 *r);

/*
 * Makes the system call of r[1] up, sixth argument in r[0], as a cancellation point.  The
 * result or a negative errno; errno is untouched.
 */
long libcosy_cancellable_call(u32 number, const u64 *r);

/*
 * For code that a cancellation must not end in the middle, since it holds locks or descriptors.  A
 * process with one thread has nobody who waits for them, and need not look libc's function up.
 */
static inline int libcosy_cancel_disable(void)
{
	int state;

	if (__libc_single_threaded)
		return -1;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void libcosy_cancel_restore(int state)
{
	if (state >= 0)
		pthread_setcancelstate(state, NULL);
}

#endif /* COSY_LIB_CANCEL_H */
