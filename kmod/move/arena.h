/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arena.h - memory whose pages move instead of being copied (UVM, USENIX '99, section 4).
 *
 * An arena is an array of slots, each of one page of user memory.  A slot has a reference to its
 * page, and so has each other place that has the page: a pipe's buffer, another arena's slot.
 *
 *  INVARIANT  A frozen page has no writable page-table entry anywhere, and while two refer to it
 *  its bytes do not change.
 *
 * A page is frozen when its page->private says so.  The mark is set and cleared by nobody but a
 * slot that finds itself the only one that refers to the page: page_count() is 1, looked at once,
 * with the arena's lock held.  So it needs no lock of its own, and any holder can rely on it.
 *
 *  - Entries are made in one place (slot_map), with the arena's lock held, and never writable ones
 *    of a frozen page.  Fault handlers insert by themselves and return VM_FAULT_NOPAGE: the kernel
 *    never makes an entry of ours from what a handler looked at before it dropped the lock.
 *  - They are removed before a page is frozen or leaves its slot, with the lock held and with the
 *    mapping that has the slot locked against munmap, so that no stale translation is left, either.
 *    The kernel may remove them at any time.
 *  - A read-only entry is clean: mprotect may make nothing but dirty ones writable by itself.
 *  - Entries are special: nobody can pin the pages and write them without an entry.
 *
 * Each slot lies in one mapping of one address space at most: an arena is mapped once, whole;
 * mappings may be split, moved and removed, but neither merged nor doubled, and fork gives the
 * child an arena of its own.
 *
 * Locks: mmap lock (or a mapping's) > arena's lock.  A pipe's is taken with neither held.
 */
#ifndef COSY_MOVE_ARENA_H
#define COSY_MOVE_ARENA_H

#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include "load/locked.h"

/* A slot: a page and COSY_SLOT_MAPPED, or no page. */
#define COSY_SLOT_EMPTY	 0UL /* zeros, when it is touched */
#define COSY_SLOT_MAPPED 1UL /* an entry may refer to the page */

struct cosy_arena {
	struct kref references; /* the file's and each mapping's */
	struct mutex lock;
	struct mm_struct *mm;	   /* the only one that may map it; mmgrab'ed */
	unsigned long first;	   /* page offset, in the file, of slots[0] */
	unsigned long count;	   /* slots */
	unsigned long *slots;	   /* lock */
	struct cosy_locked locked; /* its size */
	bool mapped;		   /* by cmpxchg: mmap was called */
};

/* Slots of one mapping; valid while that is locked. */
struct cosy_slots {
	struct cosy_arena *arena;
	struct vm_area_struct *vma;
	unsigned long address; /* the first one's */
	unsigned long i;       /* the first one */
	unsigned long count;
};

static inline struct page *cosy_slot_page(unsigned long slot)
{
	return (struct page *)(slot & ~COSY_SLOT_MAPPED);
}

/* Tells whether the bytes of the page cannot change while the caller refers to it. */
bool cosy_page_is_frozen(const struct page *page);

/* Complains when a frozen page is not what it was; does nothing unless check_moved is set. */
void cosy_page_check(const struct page *page);

/*
 * Returns a descriptor of a new arena of `size` bytes, which mmap maps whole and once, shared.
 * -EINVAL, -ENOMEM (RLIMIT_MEMLOCK, too), -EMFILE.
 */
long cosy_arena_create(u64 size);

/*
 * Finds the slots at `address`, at most `count` pages of one mapping; the mmap lock is held.
 * -EFAULT: no memory of an arena, or not with the rights `flags` (VM_READ, VM_WRITE).
 */
int cosy_slots_find(u64 address, unsigned long count, unsigned long flags, struct cosy_slots *ret);

/* The functions below need the arena's lock, which these two take and drop. */
static inline void cosy_slots_lock(const struct cosy_slots *s)
{
	mutex_lock(&s->arena->lock);
}

static inline void cosy_slots_unlock(const struct cosy_slots *s)
{
	mutex_unlock(&s->arena->lock);
}

/*
 * Takes references to the first `count` pages, frozen as they are now; an empty slot gets a page
 * of zeros.  Returns how many are in `pages`; -ENOMEM or -EFAULT when none is.
 */
long cosy_slots_loan(const struct cosy_slots *s, unsigned long count, struct page **pages);

/* Puts pages into the first `count` slots, which take over the references. */
void cosy_slots_put(const struct cosy_slots *s, unsigned long count, struct page **pages);

/* Empties slots [from, to). */
void cosy_slots_clear(const struct cosy_slots *s, unsigned long from, unsigned long to);

/* Empties those of the first `count` slots that still have the page in `pages`. */
void cosy_slots_clear_same(const struct cosy_slots *s, unsigned long count, struct page **pages);

/* Maps the slots; with `write` so that a write does not fault.  0, -ENOMEM or -EFAULT. */
int cosy_slots_present(const struct cosy_slots *s, bool write);

/* Allocates a page for a slot, not zeroed unless `flags` say so; NULL without memory. */
struct page *cosy_slot_page_alloc(gfp_t flags);

#endif /* COSY_MOVE_ARENA_H */
