/* SPDX-License-Identifier: MIT */
/*
 * tier.h - whether a region has earned its way into the kernel.
 *
 * Loading a program costs as much as thousands of system calls, so a region's native twin
 * runs first.  It counts, in code that cosycc puts at the region's entry and at the heads of
 * its loops, what the compound would have saved; __cosy_enter is called once this has reached
 * the region's budget: `share` times what loading costs (core/costs.h).  The counts
 * are the process's, without locks: an update that two threads make at once may be lost.
 *
 * COSY_TIER=always, COSY_MODE=kernel, COSY_MODE=interp and -fcosy-force do without,
 * COSY_TIER=N switches after N entries and rounds.
 */
#ifndef COSY_LIB_TIER_H
#define COSY_LIB_TIER_H

#include <stdbool.h>

#include "region.h"

/*
 * For a region or loop head that __cosy_enter is called for and that is not in the kernel yet:
 * true when it is to go there now.  Async-signal-safe.
 */
bool libcosy_tier_earned(struct cosy_region *region);

/*
 * It had earned it, and cannot go now: it asks again when that has paid for asking, or for a
 * context where there is none, or, where nothing will ever change that (`refused`: this program
 * was, for good), never.
 */
void libcosy_tier_denied(struct cosy_region *region, bool refused);

/* Whether every region goes to the kernel at once, so that it pays to prepare for it. */
bool libcosy_tier_forced(void);

#endif /* COSY_LIB_TIER_H */
