/* SPDX-License-Identifier: MIT */
/*
 * watcher.h - the process's watcher (<linux/cosy_watch.h>): the descriptor for READs, and the words
 * that the kernel changes.  It is made when tables first need it.
 */
#ifndef COSY_RUN_WATCHER_H
#define COSY_RUN_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "likely.h"

#pragma GCC visibility push(hidden)

enum {
	WATCHER_UNTRIED,
	WATCHER_OPEN,
	WATCHER_OFF, /* for good */
};

extern unsigned int watcher_state;
extern int watcher_number;		       /* the descriptor, or -1 */
extern const volatile uint64_t *watcher_words; /* NULL until a watcher was opened */

/*
 * A watcher, with the memory of the first READs, costs about as much as 20 served calls save.  So calls
 * that could be served are counted first.
 */
#define CALLS_BEFORE 32

extern unsigned int watcher_calls; /* so many were, at least */

/* True if the watcher is to be made at the first call, for tests. */
COLD bool watcher_is_eager(void);

/* Counts a call that could be served, if more have to be before the watcher is made. */
static inline bool watcher_waits(void)
{
	unsigned int count = __atomic_load_n(&watcher_calls, __ATOMIC_RELAXED);

	if (count >= CALLS_BEFORE || (!count && unlikely(watcher_is_eager())))
		return false;
	__atomic_store_n(&watcher_calls, count + 1, __ATOMIC_RELAXED);
	return true;
}

/*
 * Makes the watcher after so many calls.  Returns whether it is there.  To be called while
 * watcher_state is WATCHER_UNTRIED, and after watcher_waits.
 */
bool watcher_begin(void);

/*
 * Makes the watcher of a process that has made a call which could be served: it is about to begin a
 * thread, after which it could get none.
 */
void watcher_before_thread(void);

/* To be called when COSY_WATCH_ENDED is set in the word of the way. */
COLD void watcher_ended(void);

/* Another file has the descriptor's number, or no READ is allowed any more. */
COLD void watcher_lost(void);

/* No watcher is made or used from now on. */
void watcher_off(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_WATCHER_H */
