// SPDX-License-Identifier: GPL-2.0
/* watcher.c - see watcher.h. */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include "compat/compat.h"
#include "watch/reading.h"
#include "watch/watcher.h"

/* Hooks run with preemption off, so these locks are raw. */
struct bucket {
	struct hlist_head slots;
	u32 count;
	raw_spinlock_t lock;
};

/* Watchers, by address space. */
struct space {
	struct hlist_head watchers;
	raw_spinlock_t lock;
};

#define BUCKET_BITS 16
#define SPACE_BITS  10

/* Slots in a bucket: a change of an inode searches all of them with the bucket's lock held. */
#define BUCKET_MAX 32
/* Most slots of one user in a bucket.  All that it may have fill 4 of each on average. */
#define BUCKET_SHARE (BUCKET_MAX / 4)
/* Watchers of all users: each change of a mount changes a word of each. */
#define WATCHERS_MAX 4096

static struct bucket *buckets;
static u64 key[2] __ro_after_init; /* secret, so nobody can choose inodes that share a bucket */
static struct space spaces[1 << SPACE_BITS];
static atomic_t watchers_cnt = ATOMIC_INIT(0);
static struct page *ended_page;
static bool all_ended, paused;

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

/* True if the tick has ended the answers of the slot's READ. */
static __always_inline bool slot_is_silent(const struct cosy_watch_slot *slot)
{
	return READ_ONCE(slot->watcher->tick) - slot->tick >= COSY_WATCH_TICKS;
}

/* Under the bucket's lock. */
static void bucket_drop(struct bucket *bucket, struct cosy_watch_slot *slot)
{
	hlist_del_init(&slot->node);
	bucket->count--;
}

static noinline void bucket_note(struct bucket *bucket, const struct inode *inode,
				 enum cosy_watch_event event)
{
	struct cosy_watch_slot *slot, *last = NULL;

	raw_spin_lock(&bucket->lock);
	hlist_for_each_entry(slot, &bucket->slots, node) {
		last = slot;
		/* Watchers of other inodes are not read, because that would miss the cache. */
		if (slot->ino != inode->i_ino || slot->sb != inode->i_sb || slot_is_silent(slot))
			continue;
		/* A READ opens a directory, but does not list it. */
		if (event == COSY_WATCH_OPENED && READ_ONCE(slot->watcher->reader) == current)
			continue;
		if (!slot->way || event == COSY_WATCH_ITSELF)
			word_change(slot->watcher, slot->word);
	}
	/* The last one is the oldest, so a bucket that nobody registers in empties as well. */
	if (last && slot_is_silent(last))
		bucket_drop(bucket, last);
	raw_spin_unlock(&bucket->lock);
}

void cosy_watch_note(const struct inode *inode, enum cosy_watch_event event)
{
	struct bucket *bucket;

	if (!inode)
		return;
	bucket = &buckets[bucket_of(inode->i_sb, inode->i_ino)];
	/*
	 * Pairs with cosy_watcher_settle: before this, an atomic operation has changed the lock of
	 * the change, or the count of openers.
	 */
	smp_mb__after_atomic();
	if (unlikely(!hlist_empty(&bucket->slots)))
		bucket_note(bucket, inode, event);
}

static __always_inline void slot_remove(struct cosy_watch_slot *slot)
{
	struct bucket *bucket = &buckets[slot->bucket];

	/* It has never been registered. */
	if (!slot->sb)
		return;
	raw_spin_lock(&bucket->lock);
	/* Else it was not added, or it was silent and was dropped: no answer depends on it. */
	if (!hlist_unhashed(&slot->node)) {
		/*
		 * Answers that depend on this slot end now.  The word changes before the bucket
		 * does, because hooks read the bucket without the lock.
		 */
		word_change(slot->watcher, slot->word);
		smp_mb__after_atomic();
		bucket_drop(bucket, slot);
	}
	raw_spin_unlock(&bucket->lock);
}

static __always_inline bool slot_is_way(const struct cosy_watch_slot *slot)
{
	return slot->word == COSY_WATCH_WAY;
}

/* An inode, and the purpose for which a READ registers it. */
struct use {
	const struct inode *inode;
	bool way;    /* a directory: changes of its contents do not count */
	bool on_way; /* a directory on the way to the table's, whose word is COSY_WATCH_WAY */
};

/*
 * Returns the slot that a watcher has for this use of an inode, or NULL.  Drops silent slots on the
 * way there.  Under the bucket's lock.
 */
static __always_inline struct cosy_watch_slot *bucket_search(struct bucket *bucket,
							     const struct cosy_watcher *watcher,
							     struct use use)
{
	struct cosy_watch_slot *slot;
	struct hlist_node *next;

	hlist_for_each_entry_safe(slot, next, &bucket->slots, node)
	{
		if (slot->watcher == watcher && slot->ino == use.inode->i_ino &&
		    slot->sb == use.inode->i_sb && slot->way == use.way &&
		    slot_is_way(slot) == use.on_way)
			return slot;
		if (slot_is_silent(slot))
			bucket_drop(bucket, slot);
	}
	return NULL;
}

/* Returns whether the watcher's user may add a slot to the bucket.  Under the bucket's lock. */
static bool bucket_has_room(const struct bucket *bucket, const struct cosy_watcher *watcher)
{
	const struct cosy_watch_slot *slot;
	u32 own = 0;

	hlist_for_each_entry(slot, &bucket->slots, node)
		own += slot->watcher->user == watcher->user;
	return own < BUCKET_SHARE && bucket->count < BUCKET_MAX;
}

static __always_inline struct bucket *bucket_for(struct use use)
{
	return &buckets[bucket_of(use.inode->i_sb, use.inode->i_ino)];
}

static noinline struct cosy_watch_slot *slot_again_search(struct bucket *bucket,
							  struct cosy_watcher *watcher,
							  struct use use)
{
	struct cosy_watch_slot *own;

	raw_spin_lock(&bucket->lock);
	own = bucket_search(bucket, watcher, use);
	if (own)
		own->tick = READ_ONCE(watcher->tick);
	raw_spin_unlock(&bucket->lock);
	if (own)
		own->reading = watcher->readings;
	return own;
}

/*
 * Returns the slot that the watcher has for this use, or NULL.  The slot belongs to the READ under
 * way from now on.
 */
static __always_inline struct cosy_watch_slot *slot_again(struct bucket *bucket,
							  struct cosy_watcher *watcher,
							  struct use use)
{
	/* Without the bucket's lock: only the caller, with the watcher's lock, adds its slots. */
	return likely(hlist_empty(&bucket->slots)) ? NULL : slot_again_search(bucket, watcher, use);
}

/*
 * Registers an inode in a slot.  False: the bucket is full, or the user has its share of slots.
 */
static __always_inline bool slot_add(struct cosy_watch_slot *slot, struct bucket *bucket,
				     struct use use)
{
	bool added;

	slot_remove(slot);
	slot->sb = use.inode->i_sb;
	slot->ino = use.inode->i_ino;
	slot->way = use.way;
	slot->bucket = bucket - buckets;
	raw_spin_lock(&bucket->lock);
	added = likely(hlist_empty(&bucket->slots)) || bucket_has_room(bucket, slot->watcher);
	if (added) {
		slot->tick = READ_ONCE(slot->watcher->tick);
		hlist_add_head(&slot->node, &bucket->slots);
		bucket->count++;
	}
	raw_spin_unlock(&bucket->lock);
	if (added)
		slot->reading = slot->watcher->readings;
	return added;
}

/* Returns the slot of word `i`, or NULL if its page was not made. */
static __always_inline struct cosy_watch_slot *slot_at(const struct cosy_watcher *watcher, u32 i)
{
	struct cosy_watch_slot *page = watcher->slots[i / COSY_WATCH_SLOTS];

	return likely(page) ? page + i % COSY_WATCH_SLOTS : NULL;
}

static __always_inline u32 word_after(u32 word)
{
	return word + 1 < COSY_WATCH_WORDS ? word + 1 : COSY_WATCH_FIRST;
}

static __always_inline u32 word_register(struct cosy_watcher *watcher, struct use use)
{
	struct bucket *bucket = bucket_for(use);
	struct cosy_watch_slot *slot = slot_again(bucket, watcher, use);
	u32 word = watcher->next;

	if (!slot) {
		/* Skip slots of this READ: it registers fewer inodes than there are words. */
		for (slot = slot_at(watcher, word);
		     slot && unlikely(slot->reading == watcher->readings);
		     slot = slot_at(watcher, word))
			word = word_after(word);
		if (!slot || !slot_add(slot, bucket, use))
			return 0;
		watcher->next = word_after(word);
	}
	return slot->word;
}

u32 cosy_watcher_register(struct cosy_watcher *watcher, const struct inode *inode)
{
	return word_register(watcher, (struct use){ inode });
}

void cosy_watcher_register_entries(struct cosy_watch_reading *r)
{
	const struct dentry *child;
	u32 i;

	for (i = 0; i < r->count; i++) {
		child = r->found[i].child;
		if (d_inode(child) &&
		    !(READ_ONCE(child->d_flags) & (DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE)))
			r->found[i].entry->word =
				word_register(r->watcher, (struct use){ d_inode(child) });
	}
}

u32 cosy_watcher_register_directory(struct cosy_watcher *watcher, const struct inode *dir)
{
	return word_register(watcher, (struct use){ dir, .way = true });
}

bool cosy_watcher_register_way(struct cosy_watcher *watcher, const struct inode *dir)
{
	struct cosy_watch_slot *ways = watcher->slots[COSY_WATCH_SLOT_PAGES - 1];
	struct use use = { dir, .way = true, .on_way = true };
	struct bucket *bucket = bucket_for(use);
	u32 i = watcher->next_way, steps;

	if (!slot_again(bucket, watcher, use)) {
		for (steps = 0; ways[i].reading == watcher->readings; steps++) {
			if (steps == COSY_WATCH_WAYS)
				return false;
			i = (i + 1) % COSY_WATCH_WAYS;
		}
		if (!slot_add(&ways[i], bucket, use))
			return false;
		watcher->next_way = (i + 1) % COSY_WATCH_WAYS;
	}
	return true;
}

bool cosy_watcher_has_way(struct cosy_watcher *watcher, const struct inode *dir)
{
	struct use use = { dir, .way = true, .on_way = true };
	struct bucket *bucket = bucket_for(use);
	struct cosy_watch_slot *slot;

	raw_spin_lock(&bucket->lock);
	slot = bucket_search(bucket, watcher, use);
	raw_spin_unlock(&bucket->lock);
	return slot && slot->reading == watcher->readings;
}

void cosy_watcher_unregister(struct cosy_watcher *watcher, u32 word)
{
	struct cosy_watch_slot *slot = slot_at(watcher, word);

	slot_remove(slot);
	slot->reading = 0;
}

/* --- Processes ----------------------------------------------------------------------------- */

static __always_inline struct space *space_of(const struct mm_struct *mm)
{
	return &spaces[hash_ptr(mm, SPACE_BITS)];
}

/* Returns the watcher of an address space, or NULL.  Under the space's lock. */
static struct cosy_watcher *space_watcher(const struct space *space, const struct mm_struct *mm)
{
	struct cosy_watcher *watcher;

	hlist_for_each_entry(watcher, &space->watchers, node) {
		if (watcher->mm == mm)
			return watcher;
	}
	return NULL;
}

/* Calls `note` for the watcher of the calling process, if there is one. */
static __always_inline void process_note(void (*note)(struct cosy_watcher *watcher))
{
	struct cosy_watcher *watcher;
	struct space *space;

	if (!current->mm)
		return;
	space = space_of(current->mm);
	if (likely(hlist_empty(&space->watchers)))
		return;
	raw_spin_lock(&space->lock);
	watcher = space_watcher(space, current->mm);
	if (watcher)
		note(watcher);
	raw_spin_unlock(&space->lock);
}

static void numbers_change(struct cosy_watcher *watcher)
{
	if (READ_ONCE(watcher->reader) != current)
		word_change(watcher, COSY_WATCH_NUMBERS);
}

void cosy_watch_note_numbers(void)
{
	process_note(numbers_change);
}

/*
 * The current directory changes after this, without a lock that a READ could check.  If another
 * thread could make a READ in between, the watcher ends.
 */
static void directory_change(struct cosy_watcher *watcher)
{
	word_change(watcher, COSY_WATCH_WAY);
	if (current->fs == watcher->fs && !thread_group_empty(current))
		watcher_end(watcher);
}

void cosy_watch_note_directory(void)
{
	process_note(directory_change);
}

static void process_end(struct cosy_watcher *watcher)
{
	watcher_end(watcher);
}

static void thread_begin(struct cosy_watcher *watcher)
{
	word_change(watcher, COSY_WATCH_WAY);
	if (task_tgid(current) != watcher->process)
		watcher_end(watcher);
}

void cosy_watch_note_thread(void)
{
	process_note(thread_begin);
}

void cosy_watch_end_process(void)
{
	process_note(process_end);
}

static void way_change(struct cosy_watcher *watcher)
{
	word_change(watcher, COSY_WATCH_WAY);
}

/* Calls `note` for the watchers of a mount namespace, or of all namespaces if it is NULL. */
static void spaces_note(const struct mnt_namespace *mounts,
			void (*note)(struct cosy_watcher *watcher))
{
	struct cosy_watcher *watcher;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (hlist_empty(&spaces[i].watchers))
			continue;
		raw_spin_lock(&spaces[i].lock);
		hlist_for_each_entry(watcher, &spaces[i].watchers, node) {
			if (!mounts || watcher->mounts == mounts)
				note(watcher);
		}
		raw_spin_unlock(&spaces[i].lock);
	}
}

void cosy_watch_end_mounts(void)
{
	if (current->nsproxy)
		spaces_note(current->nsproxy->mnt_ns, process_end);
}

void cosy_watch_end_all(void)
{
	/* Pairs with space_add, which reads `all_ended` if its watcher is not found below. */
	WRITE_ONCE(all_ended, true);
	smp_mb();
	spaces_note(NULL, process_end);
}

void cosy_watch_pause(bool pause)
{
	WRITE_ONCE(paused, pause);
	/* A READ that reads the old `paused` has read WAY's old value, which changes below. */
	smp_mb();
	if (pause)
		spaces_note(NULL, way_change);
}

bool cosy_watch_is_paused(void)
{
	return READ_ONCE(paused);
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
		/* The tick first: a READ that reads the new word also reads the new tick. */
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

/* Starts as many ticks as make all present slots silent.  Returns the present tick. */
static u32 ticks_begin(struct cosy_watcher *watcher)
{
	u32 now;

	spin_lock_bh(&ticks_lock);
	/* One more, because a tick may come before this READ registers its first slot. */
	watcher->ticks_left = COSY_WATCH_TICKS + 1;
	if (list_empty(&watcher->active))
		list_add_tail(&watcher->active, &ticking);
	if (!timer_pending(&ticks))
		mod_timer(&ticks, jiffies + HZ);
	now = watcher->tick;
	spin_unlock_bh(&ticks_lock);
	return now;
}

u32 cosy_watcher_begin(struct cosy_watcher *watcher)
{
	/* 0 is the number of no READ. */
	if (!++watcher->readings)
		watcher->readings = 1;
	return watcher->began = ticks_begin(watcher);
}

void cosy_watcher_finish(struct cosy_watcher *watcher)
{
	/* Ticks that came before a slot was registered did not count for it. */
	if (cosy_watcher_has_ticked(watcher, watcher->began))
		ticks_begin(watcher);
}

/* --- Life ---------------------------------------------------------------------------------- */

static int pages_make(struct cosy_watcher *watcher)
{
	u32 i;

	for (i = 0; i < COSY_WATCH_PAGES; i++) {
		watcher->words[i] = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
		if (!watcher->words[i])
			return -ENOMEM;
	}
	return 0;
}

static noinline bool slots_make(struct cosy_watcher *watcher, u32 page)
{
	struct cosy_watch_slot *slots = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	u32 i, word = page * COSY_WATCH_SLOTS;

	static_assert(COSY_WATCH_SLOTS * sizeof(*slots) <= PAGE_SIZE);
	static_assert(COSY_WATCH_WORDS % COSY_WATCH_SLOTS == 0);
	static_assert(COSY_WATCH_WAYS <= COSY_WATCH_SLOTS);
	if (!slots)
		return false;
	for (i = 0; i < COSY_WATCH_SLOTS; i++, word++) {
		slots[i].watcher = watcher;
		slots[i].word = word < COSY_WATCH_WORDS ? word : COSY_WATCH_WAY;
	}
	watcher->slots[page] = slots;
	return true;
}

bool cosy_watcher_reserve(struct cosy_watcher *watcher, u32 count, bool way)
{
	u32 page = watcher->next / COSY_WATCH_SLOTS, pages;

	/* Twice as many, because the READ skips slots that it has already: as many at most. */
	pages = (watcher->next % COSY_WATCH_SLOTS + 2 * (count + 1)) / COSY_WATCH_SLOTS + 1;
	for (; pages; pages--, page = (page + 1) % (COSY_WATCH_SLOT_PAGES - 1)) {
		if (unlikely(!watcher->slots[page]) && !slots_make(watcher, page))
			return false;
	}
	page = COSY_WATCH_SLOT_PAGES - 1;
	return !way || likely(watcher->slots[page]) || slots_make(watcher, page);
}

static int space_add(struct cosy_watcher *watcher, struct mm_struct *mm)
{
	struct space *space = space_of(mm);
	int error = -EBUSY;

	/* First, because other processes can find the watcher by its namespace once it is added. */
	watcher->mounts = current->nsproxy->mnt_ns;
	raw_spin_lock(&space->lock);
	if (!space_watcher(space, mm)) {
		mmgrab(mm);
		watcher->mm = mm;
		hlist_add_head(&watcher->node, &space->watchers);
		error = 0;
	}
	raw_spin_unlock(&space->lock);
	/* The caller checks the process after this, and `all_ended` is read after this. */
	smp_mb();
	if (READ_ONCE(all_ended))
		watcher_end(watcher);
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
	if (atomic_inc_return(&watchers_cnt) > WATCHERS_MAX) {
		cosy_watcher_destroy(watcher);
		return ERR_PTR(-ENOSPC);
	}
	error = pages_make(watcher);
	/*
	 * WAY begins at random, so that answers of the process's earlier watchers are never valid.
	 */
	if (!error)
		atomic64_set(cosy_watch_word(watcher, COSY_WATCH_WAY), get_random_u64() >> 2);
	watcher->next = COSY_WATCH_FIRST;
	watcher->readings = 1; /* differs from `reading` of unused slots */
	if (!error && !cosy_watcher_reserve(watcher, 1, false))
		error = -ENOMEM;
	if (!error && mm)
		error = space_add(watcher, mm);
	if (!error)
		return watcher;
	cosy_watcher_destroy(watcher);
	return ERR_PTR(error);
}

void cosy_watcher_destroy(struct cosy_watcher *watcher)
{
	u32 page, i;

	if (watcher->mm) {
		struct space *space = space_of(watcher->mm);

		raw_spin_lock(&space->lock);
		hlist_del(&watcher->node);
		raw_spin_unlock(&space->lock);
		mmdrop(watcher->mm);
	}
	spin_lock_bh(&ticks_lock);
	list_del_init(&watcher->active);
	spin_unlock_bh(&ticks_lock);
	for (page = 0; page < COSY_WATCH_SLOT_PAGES; page++) {
		for (i = 0; watcher->slots[page] && i < COSY_WATCH_SLOTS; i++)
			slot_remove(&watcher->slots[page][i]);
		free_page((unsigned long)watcher->slots[page]);
	}
	/* A mapping has references of its own. */
	for (i = 0; i < COSY_WATCH_PAGES; i++)
		free_page((unsigned long)watcher->words[i]);
	kfree(watcher);
	atomic_dec(&watchers_cnt);
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
	for (i = 0; i < ARRAY_SIZE(spaces); i++)
		raw_spin_lock_init(&spaces[i].lock);
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
