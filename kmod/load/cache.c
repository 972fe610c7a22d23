// SPDX-License-Identifier: GPL-2.0
/*
 * cache.c - compiled compounds that outlive the process that loaded them.
 *
 * Each kernel user id has its own cache, with its own lock, list and limit.  So neither hits nor
 * their timing depend on other users, except that background.c compiles for all in turn.  Unclear
 * cases are separated as well.  User and process namespaces are compared, which separates
 * containers.  A process whose real and effective users differ neither finds nor leaves anything;
 * nor does one that uses another user's descriptor.
 *
 * The key of an image is all bytes of its container, not only a hash.  An image is used only while
 * compiling these bytes now would give the same code.  It is constant and contains no address
 * (core's based code), so programs can share it.
 */
#include <linux/cred.h>
#include <linux/filter.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/user_namespace.h>
#include "load/cache.h"
#include "load/image.h"
#include "stats.h"
#include "users.h"

static ulong max_user_cache = 2UL << 20;
module_param(max_user_cache, ulong, 0644);
MODULE_PARM_DESC(max_user_cache,
		 "bytes of compiled compounds kept for each user's next process, 0 for none");

static uint cache_seconds = 300;
module_param(cache_seconds, uint, 0644);
MODULE_PARM_DESC(cache_seconds,
		 "seconds for which a compiled compound is kept that nobody loads again");

/* Ticks between two searches for unused entries: while there are images, and otherwise. */
#define AGEING	       (60 * HZ)
#define HISTORY_AGEING (60 * 60 * HZ)

static struct workqueue_struct *queue;

static unsigned long cold_after(void)
{
	return min(READ_ONCE(cache_seconds), 24u * 60 * 60) * HZ;
}

/*
 * Tells whether the caller is that user and no other, so that the cache may serve the caller and
 * keep its images.
 */
static bool user_is_served(struct cosy_user *user)
{
	return uid_eq(current_uid(), cosy_user_uid(user)) &&
	       uid_eq(current_uid(), current_euid()) && gid_eq(current_gid(), current_egid());
}

static void spaces_read(unsigned int spaces[2])
{
	struct pid_namespace *pids = task_active_pid_ns(current);

	spaces[0] = current_user_ns()->ns.inum;
	spaces[1] = pids ? pids->ns.inum : 0;
}

bool cosy_cache_serves(struct cosy_user *user, struct cosy_cache_caller *ret)
{
	spaces_read(ret->spaces);
	ret->lockable = cosy_locked_limit();
	ret->epoch = READ_ONCE(cosy_user_cache(user)->epoch);
	return user_is_served(user);
}

bool cosy_cache_is_kept(void)
{
	return READ_ONCE(max_user_cache);
}

bool cosy_cache_is_forgotten(struct cosy_user *user, const struct cosy_cache_caller *caller)
{
	return READ_ONCE(cosy_user_cache(user)->epoch) != caller->epoch;
}

struct cosy_cache *cosy_user_cache(struct cosy_user *user)
{
	return cosy_user_attached(user);
}

static unsigned long image_bytes(const struct cosy_image *image)
{
	return image->code_bytes + image->entry.len + image->insn_cnt + sizeof(*image);
}

/* Hashes the length and the beginning, which tell most containers apart; the bytes decide. */
static u32 container_hash(const void *container, u32 len)
{
	return jhash(container, min(len, 512u), len);
}

/* --- Taking out ------------------------------------------------------------------------- */

/* Takes an image out of the cache, for images_put once the lock is dropped. */
static void cache_move_out(struct cosy_cache *cache, struct cosy_image *image, struct list_head *to)
{
	cache->bytes -= image_bytes(image);
	cosy_locked_uncharge(&image->entry.locked);
	list_move(&image->entry.node, to);
}

/*
 * Does the same to make room.  If the image was compiled in the background and nobody came for it,
 * the next process need not try that again.
 */
static void cache_evict(struct cosy_cache *cache, struct cosy_image *image, struct list_head *to)
{
	if (image->entry.unproven)
		cosy_credit_in_vain(&cache->credit, image->entry.unproven);
	cache_move_out(cache, image, to);
}

static void images_put(struct list_head *images)
{
	struct cosy_image *image, *next;

	list_for_each_entry_safe(image, next, images, entry.node) {
		list_del(&image->entry.node);
		cosy_image_put(image);
	}
}

bool cosy_cache_drop(struct cosy_user *user)
{
	struct cosy_cache *cache = cosy_user_cache(user);
	struct cosy_image *image, *next;
	LIST_HEAD(dropped);
	bool any;

	mutex_lock(&cache->lock);
	list_for_each_entry_safe(image, next, &cache->images, entry.node)
		cache_move_out(cache, image, &dropped);
	mutex_unlock(&cache->lock);
	any = !list_empty(&dropped);
	images_put(&dropped);
	return any;
}

/*
 * Returns the locked pages that emptying the whole cache would give back to the caller's user.
 * Called under the lock.
 */
static unsigned long cache_locked_pages(const struct cosy_cache *cache)
{
	const struct cosy_image *image;
	unsigned long pages = 0;

	list_for_each_entry(image, &cache->images, entry.node) {
		if (image->entry.locked.payer == current_user())
			pages += image->entry.locked.pages;
	}
	return pages;
}

/* Does cosy_cache_make_room under the lock; moves the images that go to `out`. */
static void cache_unlock(struct cosy_cache *cache, unsigned long pages, unsigned long limit,
			 struct list_head *out)
{
	struct cosy_image *image, *next;

	if (cosy_locked_fits(pages, 0, limit) ||
	    !cosy_locked_fits(pages, cache_locked_pages(cache), limit))
		return;
	list_for_each_entry_safe_reverse(image, next, &cache->images, entry.node) {
		if (cosy_locked_fits(pages, 0, limit))
			break;
		if (image->entry.locked.payer == current_user())
			cache_evict(cache, image, out);
	}
}

void cosy_cache_make_room(struct cosy_user *user, unsigned long pages)
{
	struct cosy_cache *cache = cosy_user_cache(user);
	const unsigned long limit = cosy_locked_limit();
	LIST_HEAD(out);

	if (cosy_locked_fits(pages, 0, limit))
		return;
	mutex_lock(&cache->lock);
	cache_unlock(cache, pages, limit, &out);
	mutex_unlock(&cache->lock);
	images_put(&out);
}

void cosy_cache_forget(struct cosy_user *user)
{
	struct cosy_cache *cache = cosy_user_cache(user);

	mutex_lock(&cache->lock);
	WRITE_ONCE(cache->epoch, cache->epoch + 1);
	cosy_history_drop(&cache->history);
	mutex_unlock(&cache->lock);
	cosy_credit_forget(&cache->credit);
	cosy_cache_drop(user);
}

/* Drops entries that nobody has used for long.  The work item has a reference to the user. */
static void cache_age(struct work_struct *work)
{
	struct cosy_cache *cache = container_of(to_delayed_work(work), struct cosy_cache, ageing);
	struct cosy_user *user = cosy_user_of_attached(cache);
	struct cosy_image *image, *next;
	LIST_HEAD(cold);
	bool more, images;

	mutex_lock(&cache->lock);
	list_for_each_entry_safe_reverse(image, next, &cache->images, entry.node) {
		if (time_before(jiffies, image->entry.used + cold_after()))
			break;
		cache_evict(cache, image, &cold);
	}
	cosy_history_age(&cache->history);
	images = !list_empty(&cache->images);
	/* An account that begins anew would have its whole credit again. */
	more = images || cache->history.count || !cosy_credit_is_full(&cache->credit);
	cache->ages = more;
	cache->ages_hourly = !images;
	if (more && queue_delayed_work(queue, &cache->ageing, images ? AGEING : HISTORY_AGEING))
		user = NULL;
	mutex_unlock(&cache->lock);
	images_put(&cold);
	if (user)
		cosy_user_put(user);
}

/*
 * Starts the ageing of a new image, a region's history or a used credit.  Called under the lock.
 */
void cosy_cache_start_ageing(struct cosy_cache *cache, struct cosy_user *user)
{
	const bool images = !list_empty(&cache->images);

	if (cache->ages) {
		if (!images || !cache->ages_hourly)
			return;
		cache->ages_hourly = false;
		/* Where it is just running it will find that it is queued, and put its reference. */
		if (!mod_delayed_work(queue, &cache->ageing, AGEING))
			cosy_user_hold(user);
		return;
	}
	cache->ages = true;
	cosy_user_hold(user);
	cache->ages_hourly = !images;
	if (!queue_delayed_work(queue, &cache->ageing, images ? AGEING : HISTORY_AGEING))
		cosy_user_put(user);
}

static void cache_create(void *attached)
{
	struct cosy_cache *cache = attached;

	mutex_init(&cache->lock);
	INIT_LIST_HEAD(&cache->images);
	cosy_history_create(&cache->history);
	cosy_credit_create(&cache->credit);
	INIT_DELAYED_WORK(&cache->ageing, cache_age);
}

int __init cosy_cache_init(void)
{
	cosy_users_init((struct cosy_attachment){ .size = sizeof(struct cosy_cache),
						  .create = cache_create,
						  .reclaim = cosy_cache_drop });
	queue = alloc_workqueue("cosy", WQ_UNBOUND, 0);
	return queue ? 0 : -ENOMEM;
}

void cosy_cache_exit(void)
{
	struct cosy_user *user;

	while ((user = cosy_user_any())) {
		struct cosy_cache *cache = cosy_user_cache(user);

		cosy_cache_drop(user);
		mutex_lock(&cache->lock);
		cosy_history_drop(&cache->history);
		mutex_unlock(&cache->lock);
		if (cancel_delayed_work_sync(&cache->ageing))
			cosy_user_put(user);
		cosy_user_put(user);
	}
	/* Waits for work that has put its user already and is about to return. */
	destroy_workqueue(queue);
}

/* --- Finding and adding --------------------------------------------------------------------- */

static struct cosy_image *cache_find(struct cosy_cache *cache, const void *container, u32 len,
				     u32 hash, const struct cosy_target *target,
				     const unsigned int spaces[2])
{
	struct cosy_image *image;

	list_for_each_entry(image, &cache->images, entry.node) {
		if (image->entry.hash == hash && image->entry.len == len &&
		    image->entry.buffer_size == target->size &&
		    image->entry.ordinary == target->ordinary &&
		    image->entry.spaces[0] == spaces[0] && image->entry.spaces[1] == spaces[1] &&
		    !memcmp(image->entry.container, container, len))
			return image;
	}
	return NULL;
}

struct cosy_image *cosy_cache_find(struct cosy_user *user, const void *container, u32 len,
				   const struct cosy_target *target)
{
	struct cosy_cache *cache = cosy_user_cache(user);
	u32 hash = container_hash(container, len);
	struct cosy_image *image;
	unsigned int spaces[2];

	if (!user_is_served(user) || !READ_ONCE(max_user_cache))
		return NULL;
	spaces_read(spaces);
	mutex_lock(&cache->lock);
	image = cache_find(cache, container, len, hash, target, spaces);
	if (image) {
		refcount_inc(&image->references);
		image->entry.used = jiffies;
		image->entry.unproven = 0;
		list_move(&image->entry.node, &cache->images);
	}
	mutex_unlock(&cache->lock);
	if (image && !cosy_image_fits(image)) {
		cosy_image_put(image);
		image = NULL;
	}
	return image;
}

bool cosy_cache_has(struct cosy_user *user, const void *container, u32 len,
		    const struct cosy_target *target, const struct cosy_cache_caller *caller)
{
	struct cosy_cache *cache = cosy_user_cache(user);
	u32 hash = container_hash(container, len);
	struct cosy_image *image;
	bool ret;

	mutex_lock(&cache->lock);
	image = cache_find(cache, container, len, hash, target, caller->spaces);
	if (image)
		refcount_inc(&image->references);
	mutex_unlock(&cache->lock);
	if (!image)
		return false;
	ret = cosy_image_fits(image);
	cosy_image_put(image);
	return ret;
}

/*
 * Makes room for an image within the limits, and charges it; moves the images that go to `out`.
 * False: it cannot be kept.  Called under the lock.
 */
static bool cache_make_room(struct cosy_cache *cache, struct cosy_image *image,
			    unsigned long lockable, struct list_head *out)
{
	const unsigned long limit = READ_ONCE(max_user_cache), bytes = image_bytes(image);
	const unsigned long pages = DIV_ROUND_UP(bytes, PAGE_SIZE);

	if (bytes > limit)
		return false;
	while (!list_empty(&cache->images) && cache->bytes + bytes > limit)
		cache_evict(cache, list_last_entry(&cache->images, struct cosy_image, entry.node),
			    out);
	cache_unlock(cache, pages, lockable, out);
	return !cosy_locked_charge_within(&image->entry.locked, pages, lockable);
}

bool cosy_cache_add(struct cosy_image *image, const void *container, u32 len,
		    const struct cosy_target *target, const struct cosy_cache_caller *caller,
		    u32 *evicted)
{
	struct cosy_cache *cache = cosy_user_cache(image->user);
	u32 hash = container_hash(container, len);
	struct cosy_image *same;
	struct list_head *at;
	LIST_HEAD(out);
	bool added = false;

	if (!user_is_served(image->user) || !image->portable)
		return false;
	memcpy(image->entry.spaces, caller->spaces, sizeof(image->entry.spaces));
	image->entry.hash = hash;
	image->entry.len = len;
	image->entry.buffer_size = target->size;
	image->entry.ordinary = target->ordinary;
	mutex_lock(&cache->lock);
	/*
	 * The cache may have the same image already: a faster thread's, or one from before the
	 * JIT's settings changed.
	 */
	same = cache_find(cache, container, len, hash, target, image->entry.spaces);
	if (same) {
		/* A process has loaded it meanwhile. */
		if (!same->entry.unproven)
			image->entry.unproven = 0;
		cache_move_out(cache, same, &out);
	}
	if (!cosy_cache_is_forgotten(image->user, caller))
		added = cache_make_room(cache, image, caller->lockable, &out);
	if (added) {
		image->entry.container = container;
		image->entry.used = jiffies;
		refcount_inc(&image->references);
		list_add(&image->entry.node, &cache->images);
		cache->bytes += image_bytes(image);
		cosy_cache_start_ageing(cache, image->user);
	}
	mutex_unlock(&cache->lock);
	list_for_each(at, &out) {
		(*evicted)++;
	}
	images_put(&out);
	return added;
}
