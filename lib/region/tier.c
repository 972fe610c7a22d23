// SPDX-License-Identifier: MIT
/* tier.c - see tier.h. */
#include "../../core/core.h"
#include "../../core/costs.h"

#include "process/context.h"
#include "process/settings.h"
#include "process/stats.h"
#include "region/tier.h"

/* Values of region->left: call __cosy_enter at each arrival, or never. */
#define ASK_ALWAYS (INT64_MIN / 2) /* with room for what loops count */
#define ASK_NEVER  INT64_MAX

bool libcosy_tier_forced(void)
{
	libcosy_settings_init();
	if (libcosy_settings.tier != COSY_TIER_AUTO)
		return !libcosy_settings.tier;
	return libcosy_settings.mode == COSY_MODE_INTERP ||
	       libcosy_settings.mode == COSY_MODE_KERNEL;
}

/* Returns the region that counts: a loop's head counts in the region that it is in. */
static struct cosy_region *tier_owner(struct cosy_region *region)
{
	return region->entry ? region->entry : region;
}

static void tier_set_left(struct cosy_region *region, int64_t left)
{
	__atomic_store_n(&tier_owner(region)->left, left, __ATOMIC_RELAXED);
}

/* Returns how much the region has to save to earn something of this cost, in instructions. */
static int64_t tier_budget(const struct cosy_region *region, int64_t cost)
{
	int64_t saved = cost * region->share;

	return saved < COSY_LEFT_MAX / 2 ? saved : COSY_LEFT_MAX / 2;
}

/*
 * Returns what it costs to load a region.  That is two programs where there are loops: the entry's
 * and a head's will both be loaded.
 */
static int64_t tier_load_cost(const struct cosy_region *region, int64_t each, int64_t insn)
{
	const struct cosy_compound *compound = region->compound;
	int64_t cost = each + (int64_t)compound->insn_cnt * insn;

	return region->loops ? cost * 2 : cost;
}

/* Returns what has to be saved before asking whether the user has loaded the region lately. */
static int64_t tier_seen_budget(const struct cosy_region *region)
{
	int64_t cost = tier_load_cost(region, COSY_COST_SEEN, COSY_COST_SEEN_INSN);

	if (!libcosy_generation())
		cost += COSY_COST_QUESTION + COSY_COST_CONTEXT + COSY_COST_LIBRARY;
	return tier_budget(region, cost);
}

/* Returns what else has to be saved, after that, before the region is compiled. */
static int64_t tier_load_budget(const struct cosy_region *region)
{
	return tier_budget(region, tier_load_cost(region, COSY_COST_LOAD, COSY_COST_LOAD_INSN));
}

static void tier_count_down(struct cosy_region *owner, int64_t budget)
{
	__atomic_store_n(&owner->counted, budget, __ATOMIC_RELAXED);
	tier_set_left(owner, libcosy_settings.stats ? ASK_ALWAYS : budget);
}

static void tier_set_seen(struct cosy_region *owner, uint32_t seen)
{
	uint32_t others = __atomic_load_n(&owner->flags, __ATOMIC_RELAXED) &
			  ~(COSY_REGION_SEEN | COSY_REGION_UNSEEN);

	__atomic_store_n(&owner->flags, others | seen, __ATOMIC_RELAXED);
}

/* Counts in place of the region's code, which under COSY_STATS=1 asks at each arrival. */
static bool tier_has_earned(struct cosy_region *region)
{
	struct cosy_region *owner = tier_owner(region);
	int64_t loops;

	if (!libcosy_settings.stats)
		return __atomic_load_n(&owner->left, __ATOMIC_RELAXED) < 0;
	loops = __atomic_exchange_n(&owner->left, ASK_ALWAYS, __ATOMIC_RELAXED) - ASK_ALWAYS;
	return __atomic_add_fetch(&owner->counted, loops - region->gain, __ATOMIC_RELAXED) < 0;
}

/* `life` is stored last, so that a thread that sees it sees the budget, too. */
static void tier_begin_count(struct cosy_region *region, uint32_t life)
{
	struct cosy_region *owner = tier_owner(region);

	tier_set_seen(owner, 0);
	tier_count_down(owner, tier_seen_budget(owner) - region->gain);
	__atomic_store_n(&owner->life, life, __ATOMIC_RELEASE);
}

bool libcosy_tier_only_seen(const struct cosy_region *region)
{
	const struct cosy_region *owner;

	if (region->version < 2)
		return false;
	owner = region->entry ? region->entry : region;
	return __atomic_load_n(&owner->flags, __ATOMIC_RELAXED) & COSY_REGION_SEEN;
}

__attribute__((cold)) void libcosy_tier_unseen(struct cosy_region *region)
{
	struct cosy_region *owner = tier_owner(region);

	libcosy_count(&libcosy_counts.unseen, 1);
	tier_set_seen(owner, COSY_REGION_UNSEEN);
	tier_count_down(owner, tier_load_budget(owner));
}

bool libcosy_tier_earned(struct cosy_region *region)
{
	struct cosy_region *owner = tier_owner(region);
	uint32_t life;

	if (region->version < 2 || libcosy_tier_forced() || region->flags & COSY_REGION_FORCE)
		return true;
	if (libcosy_settings.tier >= 0) {
		/* Else the losses of loops would have added up to an arrival that does not ask. */
		tier_set_left(region, ASK_ALWAYS);
		return __atomic_add_fetch(&owner->arrivals, 1, __ATOMIC_RELAXED) >
		       (uint32_t)libcosy_settings.tier;
	}
	if (region->flags & COSY_REGION_LOSES) {
		libcosy_count(&libcosy_counts.loses, 1);
		if (!libcosy_settings.stats)
			tier_set_left(region, ASK_NEVER);
		return false;
	}
	/* A fork child, or a process that lost its context, has to earn anew. */
	life = libcosy_context_life() + 1;
	if (__atomic_load_n(&owner->life, __ATOMIC_ACQUIRE) != life) {
		tier_begin_count(region, life);
	} else if (tier_has_earned(region)) {
		if (!(__atomic_load_n(&owner->flags, __ATOMIC_RELAXED) & COSY_REGION_UNSEEN))
			tier_set_seen(owner, COSY_REGION_SEEN);
		tier_set_left(region, ASK_ALWAYS);
		return true;
	}
	libcosy_count(&libcosy_counts.unearned, 1);
	return false;
}

void libcosy_tier_denied(struct cosy_region *region, bool refused)
{
	struct cosy_region *owner;

	if (region->version < 2 || libcosy_settings.stats || libcosy_settings.tier >= 0)
		return;
	owner = tier_owner(region);
	if (libcosy_native_only || (refused && owner == region))
		tier_set_left(owner, ASK_NEVER);
	else if (libcosy_generation() && (refused || owner->cache))
		tier_set_left(owner, tier_budget(owner, COSY_COST_ASK));
	else
		tier_set_left(owner, tier_load_budget(owner));
}
