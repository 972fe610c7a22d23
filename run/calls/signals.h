/* SPDX-License-Identifier: MIT */
/* signals.h - takes the signals that the library uses out of masks. */
#ifndef COSY_RUN_SIGNALS_H
#define COSY_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/* Returns `set` without them; `room` takes a changed copy. */
const sigset_t *signals_without_own(const sigset_t *set, sigset_t *room);

/* True if a call with this timeout may wait; NULL is no limit. */
static inline bool timeout_waits(const struct timespec *timeout)
{
	return !timeout || timeout->tv_sec || timeout->tv_nsec;
}

#pragma GCC visibility pop

#endif /* COSY_RUN_SIGNALS_H */
