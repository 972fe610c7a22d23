// SPDX-License-Identifier: GPL-2.0
/*
 * history.c - the savings of a user's earlier processes in each region.
 *
 * Savings differ by orders of magnitude between inputs, so an average over processes would predict
 * none of them.  Instead the history counts how many processes reached each level of savings
 * (COSY_RECALL_LEVEL).  A process at one level compares how many earlier processes reached this
 * level with how many reached a higher one.
 *
 * The process supplies the regions' keys and the numbers.  If it invents them, only regions of its
 * own user enter the kernel too early or too late.  Like the cache (cache.c), the history is
 * bounded, and separate for each kernel user id, user namespace and PID namespace; each user has a
 * lock.  So neither its contents nor its timing depend on other users.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include "load/history.h"

static uint max_user_history = 256;
module_param(max_user_history, uint, 0644);
MODULE_PARM_DESC(max_user_history, "regions whose history is kept for each user, 0 for none");

static uint history_hours = 24;
module_param(history_hours, uint, 0644);
MODULE_PARM_DESC(history_hours, "hours for which a region's history is kept that no process uses");

/* A region's counts are halved after this many processes, so that the newest ones count most. */
#define HALVING 16

bool cosy_keys_match(const u64 a[2], const u64 b[2])
{
	return a[0] == b[0] && a[1] == b[1];
}

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

struct cosy_past *cosy_past_find(struct cosy_history *history, const u64 key[2],
				 const unsigned int spaces[2])
{
	struct cosy_past *past;

	list_for_each_entry(past, &history->pasts, node) {
		if (cosy_keys_match(past->key, key) && past->spaces[0] == spaces[0] &&
		    past->spaces[1] == spaces[1]) {
			past->used = jiffies;
			list_move(&past->node, &history->pasts);
			return past;
		}
	}
	return NULL;
}

struct cosy_past *cosy_past_get(struct cosy_history *history, const u64 key[2],
				const unsigned int spaces[2], struct cosy_past **spare)
{
	const uint limit = READ_ONCE(max_user_history);
	struct cosy_past *past = cosy_past_find(history, key, spaces);

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
	return past;
}

bool cosy_history_is_kept(void)
{
	return READ_ONCE(max_user_history);
}

void cosy_past_add(struct cosy_past *past, unsigned int from, unsigned int to)
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
