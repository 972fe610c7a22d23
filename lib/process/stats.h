/* SPDX-License-Identifier: MIT */
/* stats.h - this process's counts, kept and printed at exit under COSY_STATS=1. */
#ifndef COSY_LIB_STATS_H
#define COSY_LIB_STATS_H

#include <stdint.h>

#include <linux/cosy.h>

#include "process/settings.h"

struct libcosy_counts {
	uint64_t regions; /* activations begun: in the kernel, the interpreter or the native twin */
	uint64_t native;  /* of `regions`: run by the native twin */
	uint64_t unearned;     /* entries, and loop iterations, that had not earned a LOAD yet */
	uint64_t seen;	       /* entered early, because the user's cache had the compound */
	uint64_t unseen;       /* not entered early, because the cache had no compound */
	uint64_t queued;       /* compounds that a thread of the kernel compiles or will compile */
	uint64_t remembered;   /* entered early, because of the history */
	uint64_t loses;	       /* entries of regions that never earn a LOAD, as estimated */
	uint64_t given_up;     /* programs that lost too much, or were slower than natively */
	uint64_t runs;	       /* RUN ioctls that ran something */
	uint64_t interp_calls; /* system calls made by the interpreter */
	uint64_t kernel_calls; /* system calls made in the kernel, of contexts given up already */
	uint64_t left[16];     /* RUNs by enum cosy_status */
	uint64_t fast;	       /* of kernel_calls: by a specialised version */
	/* Pages moved by <cosy/move.h>, and calls of it that were made plainly; likewise */
	uint64_t loaned, transferred, exported, imported, passed, taken, move_refused;
	/* By guard, in the order of core/guards.def; likewise of contexts given up */
	uint64_t guard_failed[32];
};

extern struct libcosy_counts libcosy_counts;

/* Adds n to a count if COSY_STATS=1. */
static inline void libcosy_count(uint64_t *which, uint64_t n)
{
	if (__builtin_expect(libcosy_settings.stats, 0))
		__atomic_fetch_add(which, n, __ATOMIC_RELAXED);
}

/* Adds the kernel's counts of a context that is given up, or in use at exit. */
void libcosy_counts_keep(const struct cosy_stats *kernel);

/* Prints the counts as one line, with the kernel's counts that were added. */
void libcosy_stats_print(void);

/* Starts the counts of a fork child from 0. */
void libcosy_counts_reset(void);

#endif /* COSY_LIB_STATS_H */
