// SPDX-License-Identifier: MIT
/* pace.c - see pace.h. */
#include <stddef.h>
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

/* Savings over which the kernel's pace is measured, and those of the first calls before. */
#define MEASURED COSY_RECALL_LEVEL(1)
#define WARMED	 (MEASURED / 8)
/*
 * A region may be slower than its native twin by 1/16, since clocks are not exact.  Few long RUNs may
 * do something else than the native twin did while it was measured: by 1/5.
 */
#define MANY_RUNS      16
#define TOLERATED      16
#define TOLERATED_LONG 5

static struct {
	const struct cosy_region *owner;
	uint64_t made;	  /* native calls at the last level, in parts ... */
	uint64_t then;	  /* ... and the time, in ns */
	uint32_t insn;	  /* time of an instruction of the kernel's, in ps */
	uint32_t known;	  /* the native pace, until it is measured in the kernel; else 0 */
	uint32_t native;  /* the same, while it is measured there */
	bool warm;	  /* the first calls, which touch its memory first, are left out */
	uint64_t entered; /* when measuring began there ... */
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
	if (!pace.native) {
		if (pace.owner != owner)
			pace.known = 0;
		pace.owner = owner;
		pace.made = made;
		pace.then = now;
	}
	return ret;
}

void libcosy_pace_answered(const struct cosy_region *owner)
{
	uint64_t now, took;

	if (pace.owner != owner || pace.native || !pace.then ||
	    !(owner->flags & COSY_REGION_COUNTED))
		return;
	now = pace_now();
	took = now > pace.then ? (now - pace.then) * 1000 / COSY_COST_RECALL : 0;
	/* The quickest query is the one that nothing disturbed. */
	if (took && took < (pace.insn ? pace.insn : UINT32_MAX))
		pace.insn = (uint32_t)took;
}

uint64_t libcosy_pace_so_far(const struct cosy_region *owner)
{
	return pace.owner == owner && !pace.native ? pace.then : 0;
}

uint64_t libcosy_pace_time(int64_t instructions)
{
	return (uint64_t)instructions * pace.insn / 1000;
}

void libcosy_pace_recall(const struct cosy_region *owner, uint32_t native)
{
	if (pace.owner == owner && !pace.native)
		pace.known = native;
}

void libcosy_pace_enter(const struct cosy_region *owner)
{
	if (pace.owner != owner || !pace.known)
		return;
	pace.native = pace.known;
	pace.known = 0;
	libcosy_pace_restart();
}

static void pace_begin(bool warm)
{
	pace.warm = warm;
	pace.calls = 0;
	pace.runs = 0;
	pace.entered = pace_now();
	if (!pace.entered)
		pace.native = 0;
}

void libcosy_pace_restart(void)
{
	if (pace.native)
		pace_begin(false);
}

/* Returns what has been saved in the kernel, less what RUNs cost: `left` counts entries so, too. */
static uint64_t pace_saved(const struct cosy_region *owner)
{
	uint64_t gained = pace.calls * owner->call_gain, lost = (uint64_t)pace.runs * COSY_COST_RUN;

	return gained > lost ? gained - lost : 0;
}

bool libcosy_pace_is_slower(const struct cosy_region *owner, uint64_t calls)
{
	uint64_t now, saved, each;
	uint32_t native = pace.native;

	if (!native || pace.owner != owner)
		return false;
	pace.calls += calls;
	pace.runs++;
	saved = pace_saved(owner);
	if (saved < MEASURED) {
		if (!pace.warm && saved >= WARMED)
			pace_begin(true);
		return false;
	}
	now = pace_now();
	pace.native = 0;
	pace.then = 0;
	if (now <= pace.entered)
		return false;
	each = pace_of(now - pace.entered, pace.calls * COSY_CALL_PARTS);
	return each > native &&
	       each - native > native / (pace.runs < MANY_RUNS ? TOLERATED_LONG : TOLERATED);
}
