// SPDX-License-Identifier: GPL-2.0
/* watcher.c - see watcher.h. */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include "compat/compat.h"
#include "watch/watcher.h"

/* Hooks run with preemption off, so these locks are raw. */
struct bucket {
	struct hlist_head slots;
	raw_spinlock_t lock;
};

#define BUCKET_BITS 13
#define SPACE_BITS  8

static struct bucket *buckets;
static u64 key[2] __ro_after_init;		  /* nobody can choose inodes that share a bucket */
static struct hlist_head spaces[1 << SPACE_BITS]; /* watchers, by address space */
static DEFINE_RAW_SPINLOCK(spaces_lock);
static struct page *ended_page;

/* --- Words --------------------------------------------------------------------------------- */

static __always_inline void word_change(const struct cosy_watcher *watcher, u32 word)
{
	atomic64_inc(cosy_watch_word(watcher, word));
}

static void watcher_end(const struct cosy_watcher *watcher)
{
	atomic64_or(COSY_WATCH_ENDED, cosy_watch_word(watcher, COSY_WATCH_WAY));
}

struct page *cosy_watch_ended_page(void)
{
	return ended_page;
}

/* --- Inodes -------------------------------------------------------------------------------- */

static __always_inline u32 bucket_of(const struct super_block *sb, u64 ino)
{
	u64 mixed = (ino ^ key[0]) * GOLDEN_RATIO_64;

	return hash_64((mixed ^ mixed >> 32) + ((unsigned long)sb ^ key[1]), BUCKET_BITS);
}

static noinline void bucket_note(struct bucket *bucket, const struct inode *inode,
				 enum cosy_watch_event event)
{
	const struct cosy_watch_slot *slot;

	raw_spin_lock(&bucket->lock);
	hlist_for_each_entry(slot, &bucket->slots, node) {
		if (slot->ino != inode->i_ino || slot->sb != inode->i_sb ||
		    READ_ONCE(slot->watcher->tick) - slot->tick > 1)
			continue;
		if (!slot->way || event == COSY_WATCH_ITSELF)
			word_change(slot->watcher, slot->word);
	}
	raw_spin_unlock(&bucket->lock);
}

void cosy_watch_note(const struct inode *inode, enum cosy_watch_event event)
{
	struct bucket *bucket;

	if (!inode)
		return;
	bucket = &buckets[bucket_of(inode->i_sb, inode->i_ino)];
	/*
	 * Pairs with slot_register: the lock of the change, or the count of openers, was changed by
	 * an atomic operation before this.
	 */
	smp_mb__after_atomic();
	if (unlikely(!hlist_empty(&bucket->slots)))
		bucket_note(bucket, inode, event);
}

static void slot_remove(struct cosy_watch_slot *slot)
{
	struct bucket *bucket = &buckets[slot->bucket];

	if (!slot->used)
		return;
	raw_spin_lock(&bucket->lock);
	hlist_del(&slot->node);
	raw_spin_unlock(&bucket->lock);
	slot->used = false;
	/* Answers that were kept for this slot are stale from now on. */
	word_change(slot->watcher, slot->word);
}

static void slot_register(struct cosy_watch_slot *slot, const struct inode *inode, bool way)
{
	struct bucket *bucket;

	slot_remove(slot);
	slot->sb = inode->i_sb;
	slot->ino = inode->i_ino;
	slot->way = way;
	slot->bucket = bucket_of(slot->sb, slot->ino);
	slot->tick = READ_ONCE(slot->watcher->tick);
	slot->used = true;
	bucket = &buckets[slot->bucket];
	raw_spin_lock(&bucket->lock);
	hlist_add_head(&slot->node, &bucket->slots);
	raw_spin_unlock(&bucket->lock);
	/* Pairs with cosy_watch_note: the caller now reads the word, and then locks and counts. */
	smp_mb();
}

static u32 word_register(struct cosy_watcher *watcher, const struct inode *inode, bool way)
{
	u32 word = watcher->next;

	watcher->next = word + 1 < COSY_WATCH_WORDS ? word + 1 : COSY_WATCH_FIRST;
	slot_register(&watcher->slots[word], inode, way);
	return word;
}

u32 cosy_watcher_register(struct cosy_watcher *watcher, const struct inode *inode)
{
	return word_register(watcher, inode, false);
}

u32 cosy_watcher_register_directory(struct cosy_watcher *watcher, const struct inode *dir)
{
	return word_register(watcher, dir, true);
}

void cosy_watcher_register_way(struct cosy_watcher *watcher, const struct inode *dir)
{
	struct cosy_watch_slot *ways = watcher->slots + COSY_WATCH_WORDS;
	u32 i;

	for (i = 0; i < COSY_WATCH_WAYS; i++) {
		if (ways[i].ino == dir->i_ino && ways[i].sb == dir->i_sb && ways[i].used &&
		    ways[i].tick == READ_ONCE(watcher->tick))
			return;
	}
	slot_register(&ways[watcher->next_way], dir, true);
	watcher->next_way = (watcher->next_way + 1) % COSY_WATCH_WAYS;
}

/* --- Processes ----------------------------------------------------------------------------- */

static __always_inline struct hlist_head *space_of(const struct mm_struct *mm)
{
	return &spaces[hash_ptr(mm, SPACE_BITS)];
}

/* Returns the watcher of an address space, or NULL.  Under spaces_lock. */
static struct cosy_watcher *space_watcher(const struct mm_struct *mm)
{
	struct cosy_watcher *watcher;

	hlist_for_each_entry(watcher, space_of(mm), node) {
		if (watcher->mm == mm)
			return watcher;
	}
	return NULL;
}

static __always_inline bool space_may_be_watched(const struct mm_struct *mm)
{
	return mm && unlikely(!hlist_empty(space_of(mm)));
}

void cosy_watch_note_numbers(void)
{
	struct cosy_watcher *watcher;

	if (likely(!space_may_be_watched(current->mm)))
		return;
	raw_spin_lock(&spaces_lock);
	watcher = space_watcher(current->mm);
	if (watcher && READ_ONCE(watcher->reader) != current)
		word_change(watcher, COSY_WATCH_NUMBERS);
	raw_spin_unlock(&spaces_lock);
}

/*
 * The directory changes after this, without a lock that a READ could check.  So that is followed
 * only where nobody else has this memory, who could make a READ, or use one, in between.
 */
void cosy_watch_note_directory(void)
{
	struct cosy_watcher *watcher;

	if (likely(!space_may_be_watched(current->mm)))
		return;
	raw_spin_lock(&spaces_lock);
	watcher = space_watcher(current->mm);
	if (watcher) {
		word_change(watcher, COSY_WATCH_WAY);
		if (atomic_read(&current->mm->mm_users) != 1)
			watcher_end(watcher);
	}
	raw_spin_unlock(&spaces_lock);
}

void cosy_watch_end_process(void)
{
	struct cosy_watcher *watcher;

	if (likely(!space_may_be_watched(current->mm)))
		return;
	raw_spin_lock(&spaces_lock);
	watcher = space_watcher(current->mm);
	if (watcher)
		watcher_end(watcher);
	raw_spin_unlock(&spaces_lock);
}

/* Ends the watchers of a mount namespace, or of all. */
static void spaces_end(const struct mnt_namespace *mounts)
{
	struct cosy_watcher *watcher;
	u32 i;

	raw_spin_lock(&spaces_lock);
	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		hlist_for_each_entry(watcher, &spaces[i], node) {
			if (!mounts || watcher->mounts == mounts)
				watcher_end(watcher);
		}
	}
	raw_spin_unlock(&spaces_lock);
}

void cosy_watch_end_mounts(void)
{
	if (current->nsproxy)
		spaces_end(current->nsproxy->mnt_ns);
}

void cosy_watch_end_all(void)
{
	spaces_end(NULL);
}

/* --- The tick ------------------------------------------------------------------------------ */

static LIST_HEAD(ticking);
static DEFINE_SPINLOCK(ticks_lock);

static void tick(struct timer_list *unused);
static DEFINE_TIMER(ticks, tick);

static void tick(struct timer_list *unused)
{
	struct cosy_watcher *watcher, *next;

	spin_lock(&ticks_lock);
	list_for_each_entry_safe(watcher, next, &ticking, active) {
		/* The tick first: a READ that finds the later word finds that it has ticked. */
		WRITE_ONCE(watcher->tick, watcher->tick + 1);
		smp_mb();
		word_change(watcher, COSY_WATCH_WAY);
		if (!--watcher->ticks_left)
			list_del_init(&watcher->active);
	}
	if (!list_empty(&ticking))
		mod_timer(&ticks, jiffies + HZ);
	spin_unlock(&ticks_lock);
}

u32 cosy_watcher_begin(struct cosy_watcher *watcher)
{
	u32 now;

	spin_lock_bh(&ticks_lock);
	watcher->ticks_left = 2;
	if (list_empty(&watcher->active))
		list_add_tail(&watcher->active, &ticking);
	if (!timer_pending(&ticks))
		mod_timer(&ticks, jiffies + HZ);
	now = watcher->tick;
	spin_unlock_bh(&ticks_lock);
	return now;
}

/* --- Life ---------------------------------------------------------------------------------- */

static int pages_make(struct cosy_watcher *watcher)
{
	u32 i;

	for (i = 0; i < COSY_WATCH_PAGES; i++) {
		watcher->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!watcher->pages[i])
			return -ENOMEM;
	}
	return 0;
}

static int slots_make(struct cosy_watcher *watcher)
{
	u32 i, count = COSY_WATCH_WORDS + COSY_WATCH_WAYS;

	watcher->slots = kvcalloc(count, sizeof(*watcher->slots), GFP_KERNEL_ACCOUNT);
	if (!watcher->slots)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		watcher->slots[i].watcher = watcher;
		watcher->slots[i].word = i < COSY_WATCH_WORDS ? i : COSY_WATCH_WAY;
	}
	watcher->next = COSY_WATCH_FIRST;
	return 0;
}

static int space_add(struct cosy_watcher *watcher, struct mm_struct *mm)
{
	int error = -EBUSY;

	raw_spin_lock(&spaces_lock);
	if (!space_watcher(mm)) {
		mmgrab(mm);
		watcher->mm = mm;
		hlist_add_head(&watcher->node, space_of(mm));
		error = 0;
	}
	raw_spin_unlock(&spaces_lock);
	/* Whatever the caller checks about the process comes after this. */
	smp_mb();
	return error;
}

struct cosy_watcher *cosy_watcher_create(struct mm_struct *mm)
{
	struct cosy_watcher *watcher = kzalloc(sizeof(*watcher), GFP_KERNEL_ACCOUNT);
	int error;

	if (!watcher)
		return ERR_PTR(-ENOMEM);
	mutex_init(&watcher->lock);
	INIT_LIST_HEAD(&watcher->active);
	error = pages_make(watcher);
	/* A process that makes one watcher after another never finds an earlier one's answer valid. */
	if (!error)
		atomic64_set(cosy_watch_word(watcher, COSY_WATCH_WAY), get_random_u64() >> 2);
	if (!error)
		error = slots_make(watcher);
	if (!error && mm)
		error = space_add(watcher, mm);
	if (!error)
		return watcher;
	cosy_watcher_destroy(watcher);
	return ERR_PTR(error);
}

void cosy_watcher_destroy(struct cosy_watcher *watcher)
{
	u32 i;

	if (watcher->mm) {
		raw_spin_lock(&spaces_lock);
		hlist_del(&watcher->node);
		raw_spin_unlock(&spaces_lock);
		mmdrop(watcher->mm);
	}
	spin_lock_bh(&ticks_lock);
	list_del_init(&watcher->active);
	spin_unlock_bh(&ticks_lock);
	for (i = 0; watcher->slots && i < COSY_WATCH_WORDS + COSY_WATCH_WAYS; i++)
		slot_remove(&watcher->slots[i]);
	for (i = 0; i < COSY_WATCH_PAGES; i++) {
		if (watcher->pages[i])
			put_page(watcher->pages[i]);
	}
	kvfree(watcher->slots);
	kvfree(watcher->reading);
	kfree(watcher);
}

int __init cosy_watchers_init(void)
{
	u64 *word;
	u32 i;

	buckets = vzalloc(sizeof(*buckets) << BUCKET_BITS);
	ended_page = alloc_page(GFP_KERNEL);
	if (!buckets || !ended_page) {
		cosy_watchers_exit();
		return -ENOMEM;
	}
	for (i = 0; i < 1 << BUCKET_BITS; i++)
		raw_spin_lock_init(&buckets[i].lock);
	get_random_bytes(key, sizeof(key));
	word = page_address(ended_page);
	for (i = 0; i < PAGE_SIZE / sizeof(*word); i++)
		word[i] = COSY_WATCH_ENDED | (COSY_WATCH_ENDED - 1);
	return 0;
}

void cosy_watchers_exit(void)
{
	timer_delete_sync(&ticks);
	vfree(buckets);
	if (ended_page)
		put_page(ended_page);
}
