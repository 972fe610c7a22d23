// SPDX-License-Identifier: GPL-2.0
/*
 * recall.c - see recall.h.
 *
 * Memory is allocated before the lock is taken: a process that waits for memory holds up no other.
 */
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "context.h"
#include "load/cache.h"
#include "load/recall.h"
#include "users.h"

/* A region that was slower is tried again when this was halved to 0. */
#define SLOWER 4
/* Regions that one context follows at most. */
#define MAX_FOLLOWED 64

/* Returns how many levels so much reaches. */
static unsigned int levels_of(u64 saved)
{
	unsigned int levels = 0;

	while (levels < COSY_RECALL_LEVELS && saved >= COSY_RECALL_LEVEL(levels))
		levels++;
	return levels;
}

static bool key_is_none(const u64 key[2])
{
	return !(key[0] | key[1]);
}

/* Finds a region's past or begins one, by taking *spare (may be NULL).  Called under the lock. */
static struct cosy_past *past_get(struct cosy_cache *cache, struct cosy_user *user,
				  const u64 key[2], const unsigned int spaces[2],
				  struct cosy_past **spare)
{
	const bool could_begin = *spare;
	struct cosy_past *past = cosy_past_get(&cache->history, key, spaces, spare);

	if (could_begin && !*spare)
		cosy_cache_start_ageing(cache, user);
	return past;
}

/* --- Regions that a context follows ----------------------------------------------------- */

static struct cosy_followed *followed_find(struct cosy_context *context, const u64 key[2])
{
	struct cosy_followed *followed;

	list_for_each_entry(followed, &context->followed, node) {
		if (cosy_keys_match(followed->key, key))
			return followed;
	}
	return NULL;
}

struct cosy_followed *cosy_recall_followed(struct cosy_context *context, const u64 key[2])
{
	struct cosy_cache *cache = cosy_user_cache(context->user);
	struct cosy_followed *followed;

	if (key_is_none(key))
		return NULL;
	mutex_lock(&cache->lock);
	followed = followed_find(context, key);
	mutex_unlock(&cache->lock);
	return followed;
}

/* Follows a region from now on, by taking *spare (may be NULL).  Called under the lock. */
static int context_follow(struct cosy_context *context, const struct cosy_recall *recall,
			  const unsigned int spaces[2], struct cosy_followed **spare)
{
	struct cosy_followed *followed = followed_find(context, recall->key);

	if (!followed) {
		if (context->followed_cnt >= MAX_FOLLOWED)
			return 0;
		if (!*spare)
			return -ENOMEM;
		followed = *spare;
		*spare = NULL;
		memcpy(followed->key, recall->key, sizeof(followed->key));
		memcpy(followed->spaces, spaces, sizeof(followed->spaces));
		list_add(&followed->node, &context->followed);
		context->followed_cnt++;
	}
	followed->saved = recall->saved;
	followed->call_gain = recall->call_gain;
	followed->run_loss = recall->run_loss;
	return 0;
}

/* Returns the total savings; clamped, because the process supplies the numbers. */
static u64 followed_total(const struct cosy_followed *followed)
{
	u64 gained, lost;

	if (check_mul_overflow((u64)followed->calls, (u64)followed->call_gain, &gained) ||
	    check_add_overflow(gained, followed->saved, &gained))
		return U64_MAX;
	if (check_mul_overflow((u64)followed->runs, (u64)followed->run_loss, &lost))
		return followed->saved;
	return gained > lost ? max(gained - lost, followed->saved) : followed->saved;
}

/* Adds what the calls of a region's program have saved. */
static void followed_settle(struct cosy_user *user, const struct cosy_followed *followed)
{
	const unsigned int from = levels_of(followed->saved);
	const unsigned int to = levels_of(followed_total(followed));
	struct cosy_cache *cache = cosy_user_cache(user);
	struct cosy_past *past, *spare;

	if (to <= from)
		return;
	spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	mutex_lock(&cache->lock);
	past = past_get(cache, user, followed->key, followed->spaces, &spare);
	if (past)
		cosy_past_add(past, from, to);
	mutex_unlock(&cache->lock);
	kfree(spare);
}

void cosy_recall_settle(struct cosy_context *context)
{
	struct cosy_followed *followed, *next;

	/* The context ends, so nobody else comes to its list. */
	list_for_each_entry_safe(followed, next, &context->followed, node) {
		followed_settle(context->user, followed);
		list_del(&followed->node);
		kfree(followed);
	}
}

/* --- RECALL ------------------------------------------------------------------------------ */

/* Returns whether RECALL knows the flags, and finds the other members set as they ask. */
static bool recall_is_known(const struct cosy_recall *recall)
{
	if (recall->flags & ~(COSY_RECALL_SLOWER | COSY_RECALL_FORGET))
		return false;
	if (key_is_none(recall->key))
		return !recall->saved && !recall->reported && !recall->call_gain &&
		       !recall->run_loss && !recall->pace && !(recall->flags & COSY_RECALL_SLOWER);
	return recall->reported <= recall->saved && !(recall->flags & COSY_RECALL_FORGET);
}

/* Returns whether a RECALL begins the past of a region that has none. */
static bool recall_begins(const struct cosy_recall *recall)
{
	return levels_of(recall->saved) > levels_of(recall->reported) ||
	       recall->flags & COSY_RECALL_SLOWER;
}

/* Returns the mean of the last few, so that one that was disturbed counts for little. */
static u32 pace_mix(u32 past, u32 pace)
{
	return past ? (3ull * past + pace) / 4 : pace;
}

/* Answers with the past as it was before this process, and adds the process.  Under the lock. */
static void recall_past(struct cosy_cache *cache, struct cosy_user *user,
			struct cosy_recall *recall, u32 pace, const unsigned int spaces[2],
			struct cosy_past **spare)
{
	const unsigned int from = levels_of(recall->reported), to = levels_of(recall->saved);
	const bool slower = recall->flags & COSY_RECALL_SLOWER;
	struct cosy_past *past;

	static_assert(sizeof(recall->reached) == sizeof(past->reached));
	static_assert(sizeof(recall->paces) == sizeof(past->paces));
	past = recall_begins(recall) ? past_get(cache, user, recall->key, spaces, spare)
				     : cosy_past_find(&cache->history, recall->key, spaces);
	if (!past)
		return;
	memcpy(recall->reached, past->reached, sizeof(recall->reached));
	if (slower)
		past->slower = SLOWER;
	recall->slower = past->slower;
	if (pace)
		past->pace = pace_mix(past->pace, pace);
	if (pace && to > from)
		past->paces[to - 1] = pace_mix(past->paces[to - 1], pace);
	recall->pace = past->pace;
	memcpy(recall->paces, past->paces, sizeof(recall->paces));
	cosy_past_add(past, from, to);
}

long cosy_recall(struct cosy_context *context, struct cosy_recall *recall)
{
	struct cosy_cache *cache = cosy_user_cache(context->user);
	struct cosy_followed *followed = NULL;
	struct cosy_past *past = NULL;
	const u32 pace = recall->pace;
	struct cosy_cache_caller caller;
	int error = 0;

	if (!recall_is_known(recall))
		return -EINVAL;
	memset(recall->reached, 0, sizeof(recall->reached));
	memset(recall->paces, 0, sizeof(recall->paces));
	recall->slower = 0;
	recall->regions = 0;
	recall->pace = 0;
	if (!cosy_cache_serves(context->user, &caller))
		return 0;
	if (recall->flags & COSY_RECALL_FORGET)
		cosy_cache_forget(context->user);
	/* What is not needed after all is freed again. */
	if (recall_begins(recall))
		past = kzalloc(sizeof(*past), GFP_KERNEL_ACCOUNT);
	if (recall->call_gain)
		followed = kzalloc(sizeof(*followed), GFP_KERNEL_ACCOUNT);
	mutex_lock(&cache->lock);
	if (!key_is_none(recall->key) && cosy_history_is_kept()) {
		recall_past(cache, context->user, recall, pace, caller.spaces, &past);
		if (recall->call_gain)
			error = context_follow(context, recall, caller.spaces, &followed);
	}
	recall->regions = cache->history.count;
	mutex_unlock(&cache->lock);
	kfree(past);
	kfree(followed);
	return error;
}
