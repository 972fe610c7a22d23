/* SPDX-License-Identifier: MIT */
/*
 * tier.h - decides whether a region has earned its way into the kernel.
 *
 * Loading a program costs as much as thousands of system calls, so a region's native twin
 * runs first.  It counts, in code that cosycc puts at the region's entry and at the heads of
 * its loops, what the compound would have saved; __cosy_enter is called once this has reached
 * the region's budget: `share` times what loading costs (core/costs.h).  The counts
 * are the process's, without locks: an update that two threads make at once may be lost.
 *
 * A program that the user's processes have loaded lately costs little more than a context.  So once
 * a region has earned that much, it asks whether its own is one of these.  If so it is `seen`, and
 * goes to the kernel by those of its programs that need not be compiled; else it is `unseen`, and
 * goes on counting until it has earned the rest.
 *
 * With COSY_TIER=always, COSY_MODE=kernel, COSY_MODE=interp or -fcosy-force a region need not
 * earn it; with COSY_TIER=N it is in the kernel after N entries and iterations.
 */
#ifndef COSY_LIB_TIER_H
#define COSY_LIB_TIER_H

#include <stdbool.h>

#include "region/region.h"

/*
 * True if a region or loop head that is not in the kernel yet, and for which __cosy_enter was
 * called, is to go there now.  Async-signal-safe.
 */
bool libcosy_tier_earned(struct cosy_region *region);

/*
 * True if a region that has earned a question goes to the kernel, by what it and the user's earlier
 * processes have saved.  Asks by that descriptor of the device, the context's or one that is to
 * become it.
 */
bool libcosy_tier_wants(struct cosy_region *region, int fd);

/* Returns the region that counts: a loop's head counts in the region that it is in. */
struct cosy_region *libcosy_tier_owner(struct cosy_region *region);

/* True if a region that has earned it may only use programs that need not be compiled. */
bool libcosy_tier_only_seen(struct cosy_region *region);

/*
 * True if compiling this region pays over the runs of the user's next processes, by its history.
 * So it is to be compiled in the background if this process does not find it compiled.
 */
bool libcosy_tier_pays(struct cosy_region *region);

/* True if some program of the region has entered the kernel since the region began to count. */
bool libcosy_tier_has_entered(const struct cosy_region *owner);

/*
 * Notes that the user has not loaded such a region lately: it has to earn its compilation as well,
 * unless that is under way in the background.  If it is the entry's program that is missing, and a
 * loop's has entered, the region's loops go on entering.
 */
void libcosy_tier_unseen(struct cosy_region *region);

/* Notes that a region that had earned it is in the kernel: it asks at each arrival from now on. */
void libcosy_tier_entered(struct cosy_region *region);

/*
 * Notes that a region that had earned it cannot go to the kernel now.  It asks again once it has
 * earned the cost of asking, or of a LOAD where it was not loaded yet; never where nothing can
 * change that.  `refused`: this program was refused for good.
 */
void libcosy_tier_denied(struct cosy_region *region, bool refused);

/* Notes, for this process and the user's next ones, that a region is slower in the kernel. */
void libcosy_tier_slower(struct cosy_region *region);

/*
 * Returns how many instructions a region's programs may lose in the kernel before they are given
 * up: a small share of what it cost natively so far.
 */
int64_t libcosy_tier_tolerated_loss(const struct cosy_region *owner);

#endif /* COSY_LIB_TIER_H */
