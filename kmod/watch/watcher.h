/* SPDX-License-Identifier: GPL-2.0 */
/*
 * watcher.h - watchers: a process's words, and the inodes that they stand for.
 *
 * Invariant: the word of a registered inode changes before the inode's attributes do.  The hooks
 * (hooks.c) call cosy_watch_note before a change, with the lock held that the change holds.  A READ
 * registers the inode, reads its word, then checks that the inode is unlocked, then reads the
 * attributes.  A change that began before the registration was visible holds the lock at that check,
 * or is complete.  Any later change finds the registration and changes the word.
 *
 * An inode is registered by its super block and number, not by its address: it may be evicted from
 * memory and read again to another one.
 */
#ifndef COSY_WATCHER_H
#define COSY_WATCHER_H

#include <linux/atomic.h>
#include <linux/cosy_watch.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/wait.h>

struct cosy_user;
struct ns_common;
struct cosy_watch_reading;

#define COSY_WATCH_PAGES      (COSY_WATCH_WORDS * sizeof(u64) / PAGE_SIZE)
#define COSY_WATCH_WAYS	      32 /* directories on the way to others that a watcher remembers */
#define COSY_WATCH_TICKS      2	 /* ticks after which a slot is silent */
#define COSY_WATCH_SLOTS      64 /* slots in a page */
#define COSY_WATCH_SLOT_PAGES (COSY_WATCH_WORDS / COSY_WATCH_SLOTS + 1) /* the last: of the ways */

/* What happens to an inode. */
enum cosy_watch_event {
	COSY_WATCH_ITSELF,   /* its attributes, its name or its existence change */
	COSY_WATCH_CONTENTS, /* of a directory: an entry is added, removed or renamed */
	COSY_WATCH_OPENED,   /* it is opened; it counts as open from now on */
};

/* A registered inode.  A watcher has one for each use of an inode. */
struct cosy_watch_slot {
	struct hlist_node node; /* in its bucket, under the bucket's lock; or unhashed */
	const struct super_block *sb;
	u64 ino;
	struct cosy_watcher *watcher;
	u16 word;
	u16 bucket;
	u32 tick;    /* when it was registered; under the bucket's lock */
	u32 reading; /* the READ that registered it, which does not give it to another inode */
	bool way;    /* a directory on the way: only what happens to it itself counts */
};

struct cosy_watcher {
	atomic64_t *words[COSY_WATCH_PAGES]; /* pages, each a reference */
	struct mutex lock;		     /* of all below but the words */
	struct task_struct *owner; /* the thread that makes a READ, which has the lock; or NULL */
	/*
	 * One slot for each word; those of the ways follow.  A page is made when a READ may need it: a
	 * process that makes few READs has few.  Single pages, since freeing larger blocks makes the
	 * kernel give back all of the processor's free pages.
	 */
	struct cosy_watch_slot *slots[COSY_WATCH_SLOT_PAGES];
	u32 next, next_way; /* the slots to be used next */
	u32 readings;	    /* how many READs there have been */

	/* The process.  Constant. */
	struct mm_struct *mm;	      /* mmgrab'ed; NULL: the self-test's */
	struct pid *process;	      /* a reference */
	struct files_struct *files;   /* only compared */
	struct fs_struct *fs;	      /* only compared */
	struct mnt_namespace *mounts; /* only compared; `mounts_kept` keeps it */
	struct cosy_user *user;	      /* a reference */
	struct hlist_node node;	      /* by mm */

	/* The mount namespace's queue, which is woken inside mount_lock. */
	struct ns_common *mounts_kept; /* a reference to the namespace, or NULL */
	wait_queue_head_t *queue;
	wait_queue_entry_t wait;

	/* The thread whose READ opens a directory. */
	struct task_struct *reader;
	/* The values of words under which a directory was found to be one that may be listed. */
	u32 listed_word;
	u64 listed_value, listed_way;

	/*
	 * The tick.  It changes COSY_WATCH_WAY, so answers live for a second at most.  A slot whose
	 * answers ended a tick ago is silent: its process does not learn what happens to the inode,
	 * or to another one that got its number.
	 */
	u32 tick, began;		    /* now; when the READ under way began */
	u32 ticks_left;			    /* ticks_lock: until all of its slots are silent */
	struct list_head active;	    /* ticks_lock; empty: there are none left */
	struct cosy_watch_reading *reading; /* the memory of a READ; children.c */
};

static inline atomic64_t *cosy_watch_word(const struct cosy_watcher *watcher, u32 word)
{
	return watcher->words[word * sizeof(u64) / PAGE_SIZE] + word % (PAGE_SIZE / sizeof(u64));
}

/*
 * Makes a watcher for the address space `mm` and the caller's mount namespace, or for none.
 * -ENOMEM; -EBUSY: it has one; -ENOSPC: all users together have too many.
 */
struct cosy_watcher *cosy_watcher_create(struct mm_struct *mm);
void cosy_watcher_destroy(struct cosy_watcher *watcher);

/*
 * Makes the slots for a READ of so many inodes, their directory, and the directories on the way if
 * there is one.  Under the watcher's lock, before cosy_watcher_begin.  False: there is no memory.
 */
bool cosy_watcher_reserve(struct cosy_watcher *watcher, u32 count, bool way);

/*
 * Register an inode: return its word.  0: its bucket is full, by the watchers of all users or by those
 * of this one.  Called under the watcher's lock, for slots that were reserved.  cosy_watcher_settle has
 * to be called after this and before locks and counts are checked.
 * If the watcher has not registered it yet, the slot that was registered first gives way, and its
 * word changes; but none of the same READ.
 */
u32 cosy_watcher_register(struct cosy_watcher *watcher, const struct inode *inode);
/*
 * The same for the inodes of a READ's entries, which get the words, except those that cannot be
 * given out.
 */
void cosy_watcher_register_entries(struct cosy_watch_reading *r);
/* The same for a directory whose entries are given out: only what happens to it itself counts. */
u32 cosy_watcher_register_directory(struct cosy_watcher *watcher, const struct inode *dir);
/* Registers a directory on the way to that, whose word is COSY_WATCH_WAY.  False: as 0 above. */
bool cosy_watcher_register_way(struct cosy_watcher *watcher, const struct inode *dir);
/* Returns whether this READ has registered the directory as one on the way. */
bool cosy_watcher_has_way(struct cosy_watcher *watcher, const struct inode *dir);
/* Pairs with cosy_watch_note: what was registered before is visible to hooks. */
static __always_inline void cosy_watcher_settle(void)
{
	smp_mb();
}

/* Ends what cosy_watcher_register began, for an inode that is not given out.  Its word changes. */
void cosy_watcher_unregister(struct cosy_watcher *watcher, u32 word);
/* Tells whether the inode that this READ registered by that word still is. */
static inline bool cosy_watcher_has(const struct cosy_watcher *watcher, u32 word)
{
	return watcher->slots[word / COSY_WATCH_SLOTS][word % COSY_WATCH_SLOTS].reading ==
	       watcher->readings;
}

/*
 * Begin and end a READ, whose answer ends at the next tick, at most a second from now.  The first
 * returns the tick, which has to be the same after the words were read: else slots might be silent
 * too early.
 */
u32 cosy_watcher_begin(struct cosy_watcher *watcher);
void cosy_watcher_finish(struct cosy_watcher *watcher);
static inline bool cosy_watcher_has_ticked(const struct cosy_watcher *watcher, u32 since)
{
	return READ_ONCE(watcher->tick) != since;
}

static inline bool cosy_watcher_has_ended(const struct cosy_watcher *watcher)
{
	return atomic64_read(cosy_watch_word(watcher, COSY_WATCH_WAY)) & COSY_WATCH_ENDED;
}

/* Called by hooks, before the change, without sleeping.  An inode that is NULL has none. */
void cosy_watch_note(const struct inode *inode, enum cosy_watch_event event);
/* The calling process's numbers of directories, or its current directory, change. */
void cosy_watch_note_numbers(void);
void cosy_watch_note_directory(void);
/*
 * The calling process makes a thread, so answers that only one thread may use end.  It cannot be
 * followed if only the memory is the watcher's.
 */
void cosy_watch_note_thread(void);
/* The calling process, or all of its mount namespace, does what cannot be followed. */
void cosy_watch_end_process(void);
void cosy_watch_end_mounts(void);
/* Ends every watcher, also those that will be made. */
void cosy_watch_end_all(void);
/* Ends all answers.  READs have to ask, after they read the words, and fail until the pause ends. */
void cosy_watch_pause(bool pause);
bool cosy_watch_is_paused(void);

/* The page that another process finds in the place of the words. */
struct page *cosy_watch_ended_page(void);

int cosy_watchers_init(void);
void cosy_watchers_exit(void);

#endif /* COSY_WATCHER_H */
