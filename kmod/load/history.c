// SPDX-License-Identifier: GPL-2.0
/*
 * history.c - the savings of a user's earlier processes in each region.
 *
 * Savings differ by orders of magnitude between inputs, and an average over processes would predict
 * none of them.  So the history counts how many processes reached each level of savings
 * (COSY_RECALL_LEVEL).  A process at one level compares how many predecessors reached it with how
 * many reached a higher one.
 *
 * The process supplies a region's key.  It can invent keys and numbers, which only makes its own
 * user's regions enter too early or too late.  The history is separate like the cache (cache.c): by
 * kernel user id, user namespace and process namespace, under a lock of the user's own, and
 * bounded.  So neither its contents nor its timing depend on other users.
 * Memory is allocated before the lock is taken: a process that waits for memory holds up no other.
 */
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "context.h"
#include "load/cache.h"
#include "load/history.h"
#include "users.h"

static uint max_user_history = 256;
module_param(max_user_history, uint, 0644);
MODULE_PARM_DESC(max_user_history, "regions whose history is kept for each user, 0 for none");

static uint history_hours = 24;
module_param(history_hours, uint, 0644);
MODULE_PARM_DESC(history_hours, "hours for which a region's history is kept that no process uses");

/* Processes after which a region's counts are halved, so that the newest ones count most. */
#define HALVING 16
/* A region that was slower is tried again when this was halved to 0. */
#define SLOWER 4
/* Regions that one context follows at most. */
#define MAX_FOLLOWED 64

/* The history of a region. */
struct cosy_past {
	struct list_head node;
	u64 key[2];
	unsigned int spaces[2];
	unsigned long used; /* jiffies */
	u16 reached[COSY_RECALL_LEVELS];
	u16 slower;
	u32 pace; /* of the native twin: see struct cosy_recall */
};

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

static bool keys_match(const u64 a[2], const u64 b[2])
{
	return a[0] == b[0] && a[1] == b[1];
}

/* --- A user's history ------------------------------------------------------------------ */

void cosy_history_create(struct cosy_history *history)
{
	INIT_LIST_HEAD(&history->pasts);
}

static void past_drop(struct cosy_history *history, struct cosy_past *past)
{
	list_del(&past->node);
	history->count--;
	kfree(past);
}

void cosy_history_drop(struct cosy_history *history)
{
	struct cosy_past *past, *next;

	list_for_each_entry_safe(past, next, &history->pasts, node)
		past_drop(history, past);
}

void cosy_history_age(struct cosy_history *history)
{
	const unsigned long kept = min(READ_ONCE(history_hours), 24u * 365) * 60ul * 60 * HZ;
	struct cosy_past *past, *next;

	list_for_each_entry_safe_reverse(past, next, &history->pasts, node) {
		if (time_before(jiffies, past->used + kept))
			break;
		past_drop(history, past);
	}
}

static struct cosy_past *past_find(struct cosy_history *history, const u64 key[2],
				   const unsigned int spaces[2])
{
	struct cosy_past *past;

	list_for_each_entry(past, &history->pasts, node) {
		if (keys_match(past->key, key) && past->spaces[0] == spaces[0] &&
		    past->spaces[1] == spaces[1]) {
			past->used = jiffies;
			list_move(&past->node, &history->pasts);
			return past;
		}
	}
	return NULL;
}

/*
 * Finds a region's past or begins one by taking *spare (may be NULL), for which the least recently
 * used ones make room.
 */
static struct cosy_past *past_get(struct cosy_cache *cache, struct cosy_user *user,
				  const u64 key[2], const unsigned int spaces[2],
				  struct cosy_past **spare)
{
	struct cosy_history *history = &cache->history;
	const uint limit = READ_ONCE(max_user_history);
	struct cosy_past *past = past_find(history, key, spaces);

	if (past || !limit || !*spare)
		return past;
	past = *spare;
	*spare = NULL;
	while (history->count && history->count >= limit)
		past_drop(history, list_last_entry(&history->pasts, struct cosy_past, node));
	memcpy(past->key, key, sizeof(past->key));
	memcpy(past->spaces, spaces, sizeof(past->spaces));
	past->used = jiffies;
	list_add(&past->node, &history->pasts);
	history->count++;
	cosy_cache_start_ageing(cache, user);
	return past;
}

/*
 * Counts a process that has reached the levels from `from` up to `to`.  Fewer processes reach a
 * level than the one below it, and those are halved at HALVING; but a process can say otherwise,
 * so no count goes above that.
 */
static void past_add(struct cosy_past *past, unsigned int from, unsigned int to)
{
	unsigned int i;

	for (i = from; i < to; i++)
		past->reached[i] = min(past->reached[i] + 1, HALVING);
	if (past->reached[0] < HALVING)
		return;
	for (i = 0; i < COSY_RECALL_LEVELS; i++)
		past->reached[i] /= 2;
	past->slower /= 2;
}

/* --- Regions that a context follows ----------------------------------------------------- */

static struct cosy_followed *followed_find(struct cosy_context *context, const u64 key[2])
{
	struct cosy_followed *followed;

	list_for_each_entry(followed, &context->followed, node) {
		if (keys_match(followed->key, key))
			return followed;
	}
	return NULL;
}

struct cosy_followed *cosy_history_followed(struct cosy_context *context, const u64 key[2])
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
		past_add(past, from, to);
	mutex_unlock(&cache->lock);
	kfree(spare);
}

void cosy_history_settle(struct cosy_context *context)
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

/* Tells whether RECALL knows the flags, and finds the other members set as they ask. */
static bool recall_is_known(const struct cosy_recall *recall)
{
	if (recall->flags & ~(COSY_RECALL_SLOWER | COSY_RECALL_FORGET))
		return false;
	if (key_is_none(recall->key))
		return !recall->saved && !recall->reported && !recall->call_gain &&
		       !recall->run_loss && !recall->pace && !(recall->flags & COSY_RECALL_SLOWER);
	return recall->reported <= recall->saved && !(recall->flags & COSY_RECALL_FORGET);
}

/* Tells whether a RECALL begins the past of a region that has none. */
static bool recall_begins(const struct cosy_recall *recall)
{
	return levels_of(recall->saved) > levels_of(recall->reported) ||
	       recall->flags & COSY_RECALL_SLOWER;
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
	past = recall_begins(recall) ? past_get(cache, user, recall->key, spaces, spare)
				     : past_find(&cache->history, recall->key, spaces);
	if (!past)
		return;
	memcpy(recall->reached, past->reached, sizeof(recall->reached));
	if (slower)
		past->slower = SLOWER;
	recall->slower = past->slower;
	/* The mean of the last few, so that one that was disturbed counts for little. */
	if (pace)
		past->pace = past->pace ? (3ull * past->pace + pace) / 4 : pace;
	recall->pace = past->pace;
	past_add(past, from, to);
}

long cosy_history_recall(struct cosy_context *context, struct cosy_recall *recall)
{
	struct cosy_cache *cache = cosy_user_cache(context->user);
	struct cosy_followed *followed = NULL;
	struct cosy_past *past = NULL;
	const u32 pace = recall->pace;
	unsigned int spaces[2];
	int error = 0;

	if (!recall_is_known(recall))
		return -EINVAL;
	memset(recall->reached, 0, sizeof(recall->reached));
	recall->slower = 0;
	recall->regions = 0;
	recall->pace = 0;
	if (!cosy_cache_serves(context->user, spaces))
		return 0;
	if (recall->flags & COSY_RECALL_FORGET)
		cosy_cache_drop(context->user);
	/* What is not needed after all is freed again. */
	if (recall_begins(recall))
		past = kzalloc(sizeof(*past), GFP_KERNEL_ACCOUNT);
	if (recall->call_gain)
		followed = kzalloc(sizeof(*followed), GFP_KERNEL_ACCOUNT);
	mutex_lock(&cache->lock);
	if (recall->flags & COSY_RECALL_FORGET)
		cosy_history_drop(&cache->history);
	if (!key_is_none(recall->key) && READ_ONCE(max_user_history)) {
		recall_past(cache, context->user, recall, pace, spaces, &past);
		if (recall->call_gain)
			error = context_follow(context, recall, spaces, &followed);
	}
	recall->regions = cache->history.count;
	mutex_unlock(&cache->lock);
	kfree(past);
	kfree(followed);
	return error;
}
