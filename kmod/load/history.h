/* SPDX-License-Identifier: GPL-2.0 */
/*
 * history.h - how far earlier processes of a user got in each region, so that the next process can
 * predict whether loading the region pays.
 */
#ifndef COSY_HISTORY_H
#define COSY_HISTORY_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/cosy.h>

/* A user's history, in its struct cosy_cache and under its lock. */
struct cosy_history {
	struct list_head pasts; /* struct cosy_past; those used last come first */
	unsigned int count;
};

/* The history of a region. */
struct cosy_past {
	struct list_head node;
	u64 key[2];
	unsigned int spaces[2];
	unsigned long used; /* jiffies */
	u16 reached[COSY_RECALL_LEVELS];
	u16 slower;
	u32 pace;		       /* of the native twin: see struct cosy_recall */
	u32 paces[COSY_RECALL_LEVELS]; /* the same until each level */
};

void cosy_history_create(struct cosy_history *history);
/* Forgets all of it.  Called under the lock. */
void cosy_history_drop(struct cosy_history *history);
/* Forgets regions that no process has come to for long.  Called under the lock. */
void cosy_history_age(struct cosy_history *history);

/* Tells whether the module's parameters allow a history at all. */
bool cosy_history_is_kept(void);

/* Returns a region's past, or NULL.  Called under the lock. */
struct cosy_past *cosy_past_find(struct cosy_history *history, const u64 key[2],
				 const unsigned int spaces[2]);

/*
 * Finds a region's past or begins one by taking *spare (may be NULL), for which the least recently
 * used ones make room.  Called under the lock.
 */
struct cosy_past *cosy_past_get(struct cosy_history *history, const u64 key[2],
				const unsigned int spaces[2], struct cosy_past **spare);

/*
 * Counts a process that has reached the levels from `from` up to `to`.  All counts are halved when
 * the lowest level has HALVING, and higher levels have fewer.  A process can claim otherwise, so no
 * count goes above HALVING.  Called under the lock.
 */
void cosy_past_add(struct cosy_past *past, unsigned int from, unsigned int to);

bool cosy_keys_match(const u64 a[2], const u64 b[2]);

#endif /* COSY_HISTORY_H */
