// SPDX-License-Identifier: GPL-2.0
/* stats.c - counters and tracepoints. */
#include <linux/build_bug.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include "fast/guard.h"
#include "stats.h"
#include "status.def"

#define CREATE_TRACE_POINTS
#include "trace.h"

DEFINE_PER_CPU(struct cosy_all_counters, cosy_all_counters);
static atomic_t live[COSY_LIVE_CNT], events[COSY_EVENT_CNT];
static struct dentry *directory;
static int (*show_more)(struct seq_file *file);

static const char *const live_names[COSY_LIVE_CNT] = {
	[COSY_LIVE_CONTEXTS] = "contexts", [COSY_LIVE_PROGRAMS] = "programs",
	[COSY_LIVE_IMAGES] = "images",	   [COSY_LIVE_ARENAS] = "arenas",
	[COSY_LIVE_PARCELS] = "parcels",   [COSY_LIVE_PORTS] = "ports",
	[COSY_LIVE_HUGE] = "huge",	   [COSY_LIVE_BACKGROUND] = "background",
};

static const char *const event_names[COSY_EVENT_CNT] = {
	[COSY_EVENT_HUGE_FAILED] = "huge_failed",
	[COSY_EVENT_PINNED_COPIED] = "pinned_copied",
	[COSY_EVENT_COMPILED] = "background_compiled",
	[COSY_EVENT_COMPILE_FAILED] = "background_failed",
};

#define STATUS_NAME(status, counter, count) [COSY_COUNT_LEFT + COSY_##status] = #counter
static const char *const names[COSY_COUNTERS] = {
	[COSY_COUNT_RUNS] = "runs",
	[COSY_COUNT_CALLS] = "calls",
	[COSY_COUNT_OPS] = "ops",
	[COSY_COUNT_INTERP_CALLS] = "interp_calls",
	COSY_STATUSES(STATUS_NAME),
	[COSY_COUNT_LOADS] = "loads",
	[COSY_COUNT_REJECTS] = "rejects",
	[COSY_COUNT_FAST] = "fast",
	[COSY_COUNT_CACHE_HITS] = "cache_hits",
	[COSY_COUNT_CACHE_MISSES] = "cache_misses",
	[COSY_COUNT_CACHE_EVICTED] = "cache_evicted",
	[COSY_COUNT_LOANED] = "loaned",
	[COSY_COUNT_TRANSFERRED] = "transferred",
	[COSY_COUNT_MOVE_REFUSED] = "move_refused",
	[COSY_COUNT_EXPORTED] = "exported",
	[COSY_COUNT_IMPORTED] = "imported",
	[COSY_COUNT_PASSED] = "passed",
	[COSY_COUNT_TAKEN] = "taken",
#define COSY_GUARD(guard, name, relies, breaks)                                                    \
	[COSY_COUNT_GUARD_FAILED + COSY_GUARD_##guard] = "guard_failed_" #name,
#include "guards.def"
#undef COSY_GUARD
	[COSY_COUNT_QUEUED] = "queued",
	[COSY_COUNT_QUEUE_REFUSED] = "queue_refused",
};

static_assert(COSY_GUARD_CNT <= COSY_STATS_GUARDS, "struct cosy_stats has a count for every guard");

void cosy_stats_live(enum cosy_live what, int change)
{
	atomic_add(change, &live[what]);
}

void cosy_stats_event(enum cosy_event what)
{
	atomic_inc(&events[what]);
}

void cosy_stats_read(struct cosy_counters *context, struct cosy_stats *ret)
{
	u64 *to = &ret->runs;
	int i;

	static_assert(sizeof(*ret) == offsetof(struct cosy_stats, runs) + 8 * COSY_COUNTERS);
	static_assert(offsetof(struct cosy_stats, left) ==
		      offsetof(struct cosy_stats, runs) + 8 * COSY_COUNT_LEFT);
	static_assert(offsetof(struct cosy_stats, guard_failed) ==
		      offsetof(struct cosy_stats, runs) + 8 * COSY_COUNT_GUARD_FAILED);
	ret->guards = COSY_GUARD_CNT;
	for (i = 0; i < COSY_COUNTERS; i++)
		to[i] = atomic64_read(&context->count[i]);
}

static int stats_show(struct seq_file *file, void *unused)
{
	int cpu, i;

	for (i = 0; i < COSY_COUNTERS; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu(cosy_all_counters, cpu).count[i];
		if (names[i])
			seq_printf(file, "%s %llu\n", names[i], sum);
	}
	for (i = 0; i < COSY_LIVE_CNT; i++)
		seq_printf(file, "%s %d\n", live_names[i], atomic_read(&live[i]));
	for (i = 0; i < COSY_EVENT_CNT; i++)
		seq_printf(file, "%s %d\n", event_names[i], atomic_read(&events[i]));
	return show_more(file);
}
DEFINE_SHOW_ATTRIBUTE(stats);

void cosy_stats_init(int (*more)(struct seq_file *file))
{
	show_more = more;
	/* Without debugfs there are no counters to read, and nothing else is missing. */
	directory = debugfs_create_dir("cosy", NULL);
	debugfs_create_file("stats", 0444, directory, NULL, &stats_fops);
}

void cosy_stats_exit(void)
{
	debugfs_remove_recursive(directory);
}
