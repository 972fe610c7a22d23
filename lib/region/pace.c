// SPDX-License-Identifier: MIT
/* pace.c - see pace.h. */
#include <stddef.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>

#include <linux/cosy.h>

#include "../../core/costs.h"

#include "process/filter.h"
#include "process/start.h"
#include "region/pace.h"
#include "region/region.h"
#include "syscall.h"

/* Savings over which the kernel's pace is first measured, and those of the first calls before. */
#define MEASURED (2 * COSY_RECALL_LEVEL(1))
#define WARMED	 (MEASURED / 8)
/* Or calls, if they save little. */
#define MEASURED_CALLS 1024
#define WARMED_CALLS   (MEASURED_CALLS / 8)
/*
 * A region may be slower than its native twin by 1/32, since clocks are not exact.  Few long RUNs,
 * and later windows, may do something else than the native twin did while it was measured: by 1/5.
 * Where the native paces are known that far, it is 1/16 and the difference of these paces: they are
 * means, and a run may be slower because something else runs on the machine.
 */
#define MANY_RUNS      16
#define TOLERATED      32
#define TOLERATED_LONG 5
#define TOLERATED_EVEN 16

static struct {
	const struct cosy_region *owner;
	uint64_t made;	  /* native calls at the last level, in parts ... */
	uint64_t then;	  /* ... and the time, in ns */
	uint32_t insn;	  /* time of an instruction of the kernel's, in ps ... */
	uint32_t queries; /* ... by so many queries */
	/* The user's native paces: on the whole, and from each level's predecessor to the level. */
	uint32_t mean, levels[COSY_RECALL_LEVELS];
	bool known; /* until the region is measured in the kernel */
	/* What a call saves, and a RUN loses, as the user's history counts them. */
	uint32_t gain, loss;
	/* The window that is measured in the kernel: */
	bool open;
	bool warm;	  /* the first calls, which touch its memory first, are left out */
	bool later;	  /* it is not the first one */
	uint64_t total;	  /* what the region had saved when the window began ... */
	uint64_t length;  /* ... and what it is to save until the window's end */
	uint64_t entered; /* when it began ... */
	uint64_t calls;	  /* ... and the calls since then ... */
	uint32_t runs;	  /* ... in so many RUNs */
} pace LIBCOSY_EARLY_DATA;

/* Returns the processor time of this thread in ns, or 0. */
static uint64_t pace_now(void)
{
	struct timespec now;

	if (!__libc_single_threaded || !libcosy_filter_lets_clock() ||
	    cosy_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (unsigned long)&now, 0))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns the time of a call in ps; `parts` says how many calls took that long. */
static uint32_t pace_of(uint64_t ns, uint64_t parts)
{
	const uint64_t unit = 1000 * COSY_CALL_PARTS;
	uint64_t each = ns < UINT64_MAX / unit && parts ? ns * unit / parts : 0;

	return each < UINT32_MAX ? (uint32_t)each : UINT32_MAX;
}

uint32_t libcosy_pace_level(const struct cosy_region *owner)
{
	uint64_t now, made;
	uint32_t ret = 0;

	if (!(owner->flags & COSY_REGION_COUNTED))
		return 0;
	now = pace_now();
	made = __atomic_load_n(&owner->calls, __ATOMIC_RELAXED);
	if (pace.owner == owner && pace.then && now > pace.then && made > pace.made)
		ret = pace_of(now - pace.then, made - pace.made);
	/* A region of which nothing is known is worth more than a later window of another. */
	if (pace.owner != owner && pace.later)
		pace.open = false;
	if (!pace.open) {
		if (pace.owner != owner)
			pace.known = false;
		pace.owner = owner;
		pace.made = made;
		pace.then = now;
	}
	return ret;
}

void libcosy_pace_answered(const struct cosy_region *owner)
{
	uint64_t now, took;

	if (pace.owner != owner || pace.open || !pace.then || !(owner->flags & COSY_REGION_COUNTED))
		return;
	now = pace_now();
	took = now > pace.then ? (now - pace.then) * 1000 / COSY_COST_RECALL : 0;
	/* The quickest query is the one that nothing disturbed. */
	if (took && took < (pace.insn ? pace.insn : UINT32_MAX))
		pace.insn = (uint32_t)took;
	pace.queries += took && pace.queries < UINT32_MAX;
}

bool libcosy_pace_is_settled(void)
{
	return pace.queries > 1;
}

uint64_t libcosy_pace_so_far(const struct cosy_region *owner)
{
	return pace.owner == owner && !pace.open ? pace.then : 0;
}

uint64_t libcosy_pace_time(int64_t instructions)
{
	return (uint64_t)instructions * pace.insn / 1000;
}

void libcosy_pace_recall(const struct cosy_region *owner, const struct cosy_recall *recall)
{
	if (pace.owner != owner || pace.open)
		return;
	pace.known = recall->pace;
	pace.mean = recall->pace;
	pace.gain = recall->call_gain;
	pace.loss = recall->run_loss;
	memcpy(pace.levels, recall->paces, sizeof(pace.levels));
}

/*
 * --- Windows in the kernel -----------------------------------------------------------------------
 */

/* Returns what the window has saved; a RUN is counted as the native twin counts an entry. */
static uint64_t window_saved(void)
{
	uint64_t gained = pace.calls * pace.gain, lost = (uint64_t)pace.runs * pace.loss;

	return gained > lost ? gained - lost : 0;
}

/* Returns the native pace over the same part of the process: from these savings to those. */
static uint32_t pace_native(uint64_t from, uint64_t to)
{
	uint32_t each = pace.mean;
	uint64_t at = from;
	double sum = 0;

	for (unsigned int i = 0; i < COSY_RECALL_LEVELS && at < to; i++) {
		const uint64_t level = COSY_RECALL_LEVEL(i), end = level < to ? level : to;

		if (end <= at)
			continue;
		if (pace.levels[i])
			each = pace.levels[i];
		sum += (double)(end - at) * each;
		at = end;
	}
	sum += (double)(to - at) * each;
	if (from == to)
		return each;
	return (uint32_t)(sum / (double)(to - from));
}

/*
 * Returns the difference of the highest and the lowest native pace of the levels up to these savings.
 * The first pace is left out, because it includes what is made for the first time.  UINT32_MAX: two
 * others are not known, or none of a level of at least half of these savings.
 */
static uint32_t pace_spread(uint64_t to)
{
	uint32_t least = UINT32_MAX, most = 0;
	unsigned int known = 0;
	uint64_t last = 0;

	for (unsigned int i = 0; i < COSY_RECALL_LEVELS && last < to; i++) {
		const uint32_t each = pace.levels[i];

		if (!each)
			continue;
		last = COSY_RECALL_LEVEL(i);
		if (known++) {
			least = each < least ? each : least;
			most = each > most ? each : most;
		}
	}
	return known > 2 && last >= to / 2 ? most - least : UINT32_MAX;
}

uint32_t libcosy_pace_tolerated(uint32_t native, uint64_t to)
{
	const uint32_t even = native / TOLERATED_EVEN, most = native / TOLERATED_LONG;
	const uint32_t spread = pace_spread(to);

	return spread < most - even ? even + spread : most;
}

static void window_begin(uint64_t length, bool warm)
{
	pace.total += window_saved();
	pace.length = length;
	pace.warm = warm;
	pace.calls = 0;
	pace.runs = 0;
	pace.entered = pace_now();
	pace.open = pace.entered;
}

/*
 * Begins the next window, which ends at a level, if it is known how long that part takes natively.
 */
static void window_next(void)
{
	const uint64_t total = pace.total + window_saved();

	pace.open = false;
	pace.later = true;
	for (unsigned int i = 0; i < COSY_RECALL_LEVELS; i++) {
		if (!pace.levels[i] || COSY_RECALL_LEVEL(i) < total + MEASURED)
			continue;
		window_begin(COSY_RECALL_LEVEL(i) - total, true);
		return;
	}
}

void libcosy_pace_enter(const struct cosy_region *owner)
{
	if (pace.owner != owner || !pace.known)
		return;
	pace.known = false;
	pace.total = owner->saved > 0 ? (uint64_t)owner->saved : 0;
	pace.calls = 0;
	pace.runs = 0;
	pace.later = false;
	window_begin(MEASURED, false);
}

void libcosy_pace_restart(void)
{
	if (pace.open)
		window_begin(pace.length, false);
}

bool libcosy_pace_is_slower(const struct cosy_region *owner, uint64_t calls)
{
	uint64_t now, saved;
	uint32_t native, each, tolerated;

	if (!pace.open || pace.owner != owner)
		return false;
	pace.calls += calls;
	pace.runs++;
	saved = window_saved();
	if (saved < pace.length && (pace.later || pace.calls < MEASURED_CALLS)) {
		if (!pace.warm && (saved >= WARMED || pace.calls >= WARMED_CALLS))
			window_begin(pace.length, true);
		return false;
	}
	now = pace_now();
	pace.then = 0;
	if (now <= pace.entered) {
		pace.open = false;
		return false;
	}
	each = pace_of(now - pace.entered, pace.calls * COSY_CALL_PARTS);
	native = pace_native(pace.total, pace.total + saved);
	tolerated = pace.later || pace.runs < MANY_RUNS
			    ? libcosy_pace_tolerated(native, pace.total + saved)
			    : native / TOLERATED;
	if (each <= native || each - native <= tolerated) {
		window_next();
		return false;
	}
	pace.open = false;
	return true;
}
