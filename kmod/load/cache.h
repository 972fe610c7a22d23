/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cache.h - compiled compounds that outlive the process that loaded them, so that the next one
 * of the same user that loads the same bytes only looks them up.
 */
#ifndef COSY_CACHE_H
#define COSY_CACHE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct cosy_image;
struct cosy_target;
struct cosy_user;

/* A user's; in his struct cosy_user, to which each of its images has a reference. */
struct cosy_cache {
	struct mutex lock;
	struct list_head images; /* those that were used last first; a reference each */
	unsigned long bytes;	 /* of them all, as max_user_cache counts them */
	bool ages;		 /* `ageing` is queued and has a reference to the user */
	struct delayed_work ageing;
};

void cosy_cache_create(struct cosy_cache *cache);

/*
 * The image that loading these bytes for this target would give now, a reference; or NULL.
 * The bytes are those of a container that was compiled: all of them are compared.
 */
struct cosy_image *cosy_cache_find(struct cosy_user *user, const void *container, u32 len,
				   const struct cosy_target *target);
/*
 * Keeps an image that was made from these bytes for this target.  False: it does not, and the
 * bytes (of kvmalloc) are still the caller's.
 */
bool cosy_cache_add(struct cosy_image *image, const void *container, u32 len,
		    const struct cosy_target *target, u32 *evicted);
/* Empties a user's; false: it was empty. */
bool cosy_cache_drop(struct cosy_user *user);
/*
 * Takes images out, those that were used last last, until the caller may lock so many pages more;
 * none if all of them would not be enough.  False: it took none out.
 */
bool cosy_cache_unlock(struct cosy_user *user, unsigned long pages);
int cosy_cache_init(void);
/* When the last context is closed and none is opened any more: empties all. */
void cosy_cache_exit(void);

#endif /* COSY_CACHE_H */
