/* SPDX-License-Identifier: GPL-2.0 */
/* stats.h - counters: per context, and in total in /sys/kernel/debug/cosy/stats. */
#ifndef COSY_STATS_H
#define COSY_STATS_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/cosy.h>

struct cosy_activation;
struct seq_file;

/* The counters of struct cosy_stats, in its order. */
enum cosy_counter {
	COSY_COUNT_RUNS,
	COSY_COUNT_CALLS,
	COSY_COUNT_OPS,
	COSY_COUNT_INTERP_CALLS,
	COSY_COUNT_LEFT, /* + enum cosy_status */
	COSY_COUNT_LOADS = COSY_COUNT_LEFT + sizeof_field(struct cosy_stats, left) / sizeof(__u64),
	COSY_COUNT_REJECTS,
	COSY_COUNT_FAST,
	COSY_COUNT_CACHE_HITS,
	COSY_COUNT_CACHE_MISSES,
	COSY_COUNT_CACHE_EVICTED,
	COSY_COUNT_LOANED,
	COSY_COUNT_TRANSFERRED,
	COSY_COUNT_MOVE_REFUSED,
	COSY_COUNT_EXPORTED,
	COSY_COUNT_IMPORTED,
	COSY_COUNT_PASSED,
	COSY_COUNT_TAKEN,
	COSY_COUNT_GUARD_FAILED, /* + enum cosy_guard */
	COSY_COUNT_QUEUED = COSY_COUNT_GUARD_FAILED + COSY_STATS_GUARDS,
	COSY_COUNT_QUEUE_REFUSED,
	COSY_COUNTERS
};

struct cosy_counters {
	atomic64_t count[COSY_COUNTERS];
};

/* Things that are counted while they exist. */
enum cosy_live {
	COSY_LIVE_CONTEXTS,
	COSY_LIVE_PROGRAMS,
	COSY_LIVE_IMAGES,
	COSY_LIVE_ARENAS,
	COSY_LIVE_PARCELS,
	COSY_LIVE_PORTS,
	COSY_LIVE_HUGE,
	COSY_LIVE_BACKGROUND, /* compounds that wait to be compiled, or are being compiled */
	COSY_LIVE_CNT
};

/* Things that happened since the module was loaded; never decremented. */
enum cosy_event {
	COSY_EVENT_HUGE_FAILED,	  /* no memory for a huge page: its slots keep pages of 4 KB */
	COSY_EVENT_PINNED_COPIED, /* a page that others had pinned was copied in place of moved */
	COSY_EVENT_COMPILED,	  /* a compound, in the background */
	COSY_EVENT_COMPILE_FAILED,
	COSY_EVENT_CNT
};

struct cosy_all_counters {
	u64 count[COSY_COUNTERS];
};
DECLARE_PER_CPU(struct cosy_all_counters, cosy_all_counters);

static inline void cosy_stats_add(struct cosy_counters *context, enum cosy_counter counter,
				  u64 amount)
{
	atomic64_add(amount, &context->count[counter]);
	this_cpu_add(cosy_all_counters.count[counter], amount);
}

void cosy_stats_live(enum cosy_live what, int change);
void cosy_stats_event(enum cosy_event what);
void cosy_stats_read(struct cosy_counters *context, struct cosy_stats *ret);

/* `more` writes the lines that are counted only when somebody reads them. */
void cosy_stats_init(int (*more)(struct seq_file *file));
void cosy_stats_exit(void);

#endif /* COSY_STATS_H */
