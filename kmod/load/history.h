/* SPDX-License-Identifier: GPL-2.0 */
/*
 * history.h - how much earlier processes of a user saved in each region, so that the next process
 * can predict whether loading the region pays.
 */
#ifndef COSY_HISTORY_H
#define COSY_HISTORY_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/cosy.h>

/* A user's history, in its struct cosy_cache and under its lock. */
struct cosy_history {
	struct list_head pasts; /* struct cosy_past; last used first */
	unsigned int count;
};

/* The history of a region. */
struct cosy_past {
	struct list_head node;
	u64 key[2];
	unsigned int spaces[2]; /* the numbers of the user namespace and the PID namespace */
	unsigned long used;	/* jiffies */
	u16 reached[COSY_RECALL_LEVELS];
	u16 slower;
	u32 pace;		       /* of the native twin: see struct cosy_recall */
	u32 paces[COSY_RECALL_LEVELS]; /* of the RECALLs that reached each level */
};

void cosy_history_create(struct cosy_history *history);
/* Drops all pasts.  Called under the lock. */
void cosy_history_drop(struct cosy_history *history);
/* Drops the pasts of regions that no process has used for history_hours.  Called under the lock. */
void cosy_history_age(struct cosy_history *history);

/* Returns whether the module's parameters allow a history at all. */
bool cosy_history_is_kept(void);

/* Returns a region's past and makes it the last used, or NULL.  Called under the lock. */
struct cosy_past *cosy_past_find(struct cosy_history *history, const u64 key[2],
				 const unsigned int spaces[2]);

/*
 * Returns a region's past.  If there is none, it takes *spare (zeroed, or NULL), sets that to NULL,
 * and drops the least recently used pasts above the limit.  NULL: there is no past, and *spare is
 * NULL or no history is kept.  Called under the lock.
 */
struct cosy_past *cosy_past_get(struct cosy_history *history, const u64 key[2],
				const unsigned int spaces[2], struct cosy_past **spare);

/*
 * Counts a process that has reached the levels [from, to).  All counts are halved when that of the
 * lowest level is HALVING; those of higher levels should be lower.  A process can report otherwise,
 * so no count exceeds HALVING.  Called under the lock.
 */
void cosy_past_add(struct cosy_past *past, unsigned int from, unsigned int to);

bool cosy_keys_match(const u64 a[2], const u64 b[2]);

#endif /* COSY_HISTORY_H */
