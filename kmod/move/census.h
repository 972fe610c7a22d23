/* SPDX-License-Identifier: GPL-2.0 */
/*
 * census.h - the existing arenas, parcels and ports, by user and age, to be counted piece by piece.
 *
 * A count that continues later finds its place in a few steps and skips other users' entries.  So
 * its time depends only on the user's own entries, and nobody else waits for it.
 */
#ifndef COSY_MOVE_CENSUS_H
#define COSY_MOVE_CENSUS_H

#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>

struct cosy_moving;

struct cosy_census {
	spinlock_t lock;
	struct rb_root entries; /* lock; by user, then by serial */
	u64 last;		/* lock; the last serial */
};

#define COSY_CENSUS(name)                                                                          \
	struct cosy_census name = { .lock = __SPIN_LOCK_UNLOCKED(name.lock), .entries = RB_ROOT }

/* One arena, parcel or port. */
struct cosy_counted {
	struct rb_node node;
	kuid_t uid; /* who made it */
	u64 serial; /* never 0, never used again */
};

/* A count: where it continues, and how much it may still count in this call. */
struct cosy_count {
	const kuid_t *only; /* whose are counted; NULL: all users' */
	kuid_t uid;	    /* this entry is the next one, or the first one after it */
	u64 serial;
	unsigned long slot; /* the first that is not counted yet, in that arena; else 0 */
	unsigned int left;  /* entries, and batches of slots, that may be looked at */
	struct cosy_moving *sum;
};

/* Enters an object of the caller's user. */
void cosy_census_enter(struct cosy_census *census, struct cosy_counted *entry);
/* Removes an entry; one that was not entered has to have an RB_CLEAR_NODE. */
void cosy_census_leave(struct cosy_census *census, struct cosy_counted *entry);

/* Finds the entry that is to be counted next; NULL: none is left.  The lock is held. */
struct cosy_counted *cosy_census_find(const struct cosy_census *census, struct cosy_count *count);

/* Goes on after an entry. */
void cosy_count_pass(struct cosy_count *count, const struct cosy_counted *entry);

#endif /* COSY_MOVE_CENSUS_H */
