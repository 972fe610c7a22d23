/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cache.h - compiled compounds that outlive the process that loaded them.  The same user's next
 * process that loads the same bytes only looks them up.
 */
#ifndef COSY_CACHE_H
#define COSY_CACHE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "load/credit.h"
#include "load/history.h"

struct cosy_image;
struct cosy_target;
struct cosy_user;

/* A user's cache, in its struct cosy_user, to which each of the images has a reference. */
struct cosy_cache {
	struct mutex lock;
	struct list_head images; /* those used last come first; a reference each */
	unsigned long bytes;	 /* of them all, as max_user_cache counts them */
	bool ages;		 /* `ageing` is queued and has a reference to the user */
	bool ages_hourly;	 /* it was queued for the history alone */
	struct delayed_work ageing;
	unsigned int epoch; /* FORGETs so far */
	struct cosy_history history;
	struct cosy_credit credit;
};

/* What of a process decides for whom its images are kept, and whether they are. */
struct cosy_cache_caller {
	unsigned int spaces[2]; /* as in struct cosy_cache_entry */
	unsigned long lockable; /* RLIMIT_MEMLOCK, in pages */
	unsigned int epoch;	/* of the cache when the caller came: a FORGET since then holds */
};

struct cosy_cache *cosy_user_cache(struct cosy_user *user);

/*
 * Returns a reference to the kept image that compiling these bytes for this target would make now,
 * or NULL.  The bytes need not be a valid container; those of an image that is found are.
 */
struct cosy_image *cosy_cache_find(struct cosy_user *user, const void *container, u32 len,
				   const struct cosy_target *target);
/*
 * Returns whether cosy_cache_find would find an image for that caller, with whose credentials this
 * runs; the image counts as unused all the same.
 */
bool cosy_cache_has(struct cosy_user *user, const void *container, u32 len,
		    const struct cosy_target *target, const struct cosy_cache_caller *caller);
/*
 * Keeps an image that was made from these bytes for this target; adds to `*evicted` how many made
 * room for it.  True: the bytes (of kvmalloc) are the cache's now.  False: the image is not kept,
 * and the bytes are still the caller's.  Runs with the credentials of the process that `caller`
 * was read for.
 */
bool cosy_cache_add(struct cosy_image *image, const void *container, u32 len,
		    const struct cosy_target *target, const struct cosy_cache_caller *caller,
		    u32 *evicted);
/*
 * Tells whether the caller is that user and no other, so that the cache and the history may serve
 * the caller and record its actions; fills in the rest of the caller in any case.
 */
bool cosy_cache_serves(struct cosy_user *user, struct cosy_cache_caller *ret);
/* Tells whether images are kept at all. */
bool cosy_cache_is_kept(void);
/* Tells whether the user has made a FORGET since the caller was read. */
bool cosy_cache_is_forgotten(struct cosy_user *user, const struct cosy_cache_caller *caller);
/* Starts the ageing, which drops old entries.  Called under the lock. */
void cosy_cache_start_ageing(struct cosy_cache *cache, struct cosy_user *user);
/* Empties a user's cache, except its history; false: it was empty. */
bool cosy_cache_drop(struct cosy_user *user);
/* Serves FORGET: does the same, drops the history, and keeps nothing that is compiled now. */
void cosy_cache_forget(struct cosy_user *user);
/*
 * Takes images out, the least recently used first, until the caller may lock `pages` more: images
 * that are kept for the next process count in the user's locked memory.  Takes none out if all of
 * them would not be enough.
 */
void cosy_cache_make_room(struct cosy_user *user, unsigned long pages);
int cosy_cache_init(void);
/* Empties all caches, when the last context is closed and none is opened any more. */
void cosy_cache_exit(void);

#endif /* COSY_CACHE_H */
