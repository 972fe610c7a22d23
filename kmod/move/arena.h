/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arena.h - memory whose pages move instead of being copied (UVM, USENIX '99, section 4).
 *
 * An arena is an array of slots, each of one page of user memory.  A slot has a reference to its
 * page, and so has each other holder of the page: a pipe's buffer, a parcel, a port, another
 * arena's slot.
 *
 *  INVARIANT  A frozen page has no writable page-table entry anywhere, and while two holders refer
 *  to it its bytes do not change.
 *
 * page->private marks a frozen page.  Only a slot that holds the only reference sets or clears the
 * mark: page_count() is 1, read once, with the arena's lock held.  So the mark needs no lock of its
 * own, and any holder can rely on it.
 *
 * A page that is not frozen has one slot, and its other holders neither read nor write it, with two
 * exceptions.  Shared pages have several slots, all marked.  None of them ever freezes the page,
 * even as the last holder: a loan of it is a copy.  And pages of a pinnable arena may be pinned:
 * see below.
 *
 *  - Entries are made in one place (slot_map), with the arena's lock held, and are never writable
 *    for a frozen page.  Fault handlers insert entries themselves and return VM_FAULT_NOPAGE: the
 *    kernel never makes an entry from a handler's answer after the handler dropped the lock.
 *  - Entries are removed before a page is frozen or leaves its slot, with the lock held and the
 *    slot's mapping locked against munmap.  No stale translation is left: the kernel removes the
 *    first and the last entry of a range, and flushes the whole range (entries_remove).  The kernel
 *    may remove entries at any time.
 *  - A read-only entry is clean: mprotect makes only dirty entries writable by itself.
 *  - Entries are special: nobody can pin the pages and write them without an entry.
 *
 * Entries of a pinnable arena are counted instead: each refers to its page, and others can pin the
 * page through it, which is a further reference.  A pin through a writable entry can write, and
 * outlasts the entry.  So before page_count() is read the entry is removed and flushed, and nobody
 * gets a pin any more: GUP without a lock takes the reference first and checks the entry again.  A
 * count of 1 then excludes a pin and a translation (any removal of an entry drops its reference
 * after the flush).  Otherwise the page is not frozen, and does not leave its slot: it is copied.
 * So a frozen page has only read pins, and pages of other arenas have no write pins.
 *
 * A slot lies in at most one mapping of one address space: an arena is mapped once,
 * whole.  Mappings may be split, moved and removed, but not merged or doubled, and fork gives the
 * child its own arena.
 *
 * Locks: mmap lock (or a mapping's) > parcel's lock > arena's lock > port's lock.  Nobody holds two
 * arenas'.  A pipe's is taken with none held.
 */
#ifndef COSY_MOVE_ARENA_H
#define COSY_MOVE_ARENA_H

#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include "load/locked.h"
#include "move/census.h"

/*
 * A slot: a page and marks, or no page and EMPTY or GONE.  The place of a page in a parcel or port
 * has the same, but never MAPPED.  Typed, so that sparse tells it from other words.
 */
typedef unsigned long __bitwise cosy_slot_t;
#define COSY_SLOT(bits)	 ((__force cosy_slot_t)(bits))
#define COSY_SLOT_EMPTY	 COSY_SLOT(0UL) /* zeros, when it is touched */
#define COSY_SLOT_MAPPED COSY_SLOT(1UL) /* an entry may refer to the page */
#define COSY_SLOT_SHARED COSY_SLOT(2UL) /* others may write the page as well; it is not frozen */
#define COSY_SLOT_GONE	 COSY_SLOT(4UL) /* donated: an access is a SIGSEGV */
#define COSY_SLOT_HUGE	 COSY_SLOT(8UL) /* part of a huge page, which others have, too: huge.h */
#define COSY_SLOT_MARKS	 COSY_SLOT(15UL)

/* The word of 2 MB of an arena, a parcel or a port: see huge_page.h. */
typedef unsigned long __bitwise cosy_huge_t;

/* Where the next fault is expected, and how many slots the last one was for. */
struct cosy_ahead {
	unsigned long next, count;
};

struct cosy_arena {
	struct kref references; /* the file's and each mapping's */
	struct mutex lock;
	struct mm_struct *mm;	     /* the only one that may map it; mmgrab'ed */
	unsigned long first;	     /* page offset, in the file, of slots[0] */
	unsigned long count;	     /* slots */
	cosy_slot_t *slots;	     /* lock */
	cosy_huge_t *huge;	     /* lock; see huge.h; NULL: no 2 MB are in it */
	struct cosy_locked locked;   /* its size */
	struct cosy_ahead ahead[2];  /* lock; of faults that read, and that write */
	struct cosy_counted counted; /* among the arenas; see cosy_arenas_count */
	u32 rewritten;		     /* lock; see loan_pays */
	bool shares;		     /* lock; some slot is shared, or was */
	bool mapped;		     /* by cmpxchg: mmap was called */
	bool pinnable;		     /* entries are counted; no 2 MB are in it */
};

/* Slots of one mapping; valid while that is locked. */
struct cosy_slots {
	struct cosy_arena *arena;
	struct vm_area_struct *vma;
	unsigned long address; /* the first one's */
	unsigned long i;       /* the first one */
	unsigned long count;
	const struct page *held; /* the kernel has a reference for the caller's fault; or NULL */
};

static inline struct page *cosy_slot_page(cosy_slot_t slot)
{
	return (__force struct page *)(slot & ~COSY_SLOT_MARKS);
}

/* Returns the slot of a page, without marks; EMPTY for NULL. */
static inline cosy_slot_t cosy_slot_of(const struct page *page)
{
	return (__force cosy_slot_t)page;
}

/* Returns whether the bytes of the page cannot change while the caller refers to it. */
bool cosy_page_is_frozen(const struct page *page);

/* Complains when a frozen page has changed; does nothing unless check_moved is set. */
void cosy_page_check(const struct page *page);

/*
 * Returns a descriptor of a new arena of `size` bytes, which mmap maps whole and once, shared;
 * `flags` are COSY_ARENA_*.  -EINVAL, -ENOMEM (RLIMIT_MEMLOCK, too), -EMFILE, -EOPNOTSUPP.
 */
long cosy_arena_create(u64 size, u32 flags);

/*
 * Adds up the pages of arenas, as far as the count may go in this call.  Arenas come and go
 * meanwhile, and pages move.  0: the count is complete; 1: it must continue; -EINTR.
 */
int cosy_arenas_count(struct cosy_count *count);

/*
 * Finds the slots at `address`, at most `count` pages of one mapping; the mmap lock is held.
 * -EFAULT: no memory of an arena, or not with the rights `flags` (VM_READ, VM_WRITE).
 */
int cosy_slots_find(u64 address, unsigned long count, unsigned long flags, struct cosy_slots *ret);

/*
 * Does the same, and takes the mmap lock and the arena's, both of which cosy_slots_end drops.
 * -EINTR when the process is to die.  After an error there is nothing to end.
 */
int cosy_slots_begin(u64 address, unsigned long count, unsigned long flags, struct cosy_slots *ret);

/* Does so for all of the pages: -EFAULT if one mapping does not have them. */
int cosy_slots_begin_all(u64 address, unsigned long count, unsigned long flags,
			 struct cosy_slots *ret);
void cosy_slots_end(const struct cosy_slots *s);

/*
 * Returns how many of `length` bytes (MAX_RW_COUNT at most) from the page at `address` on are
 * memory of arenas that may be read.
 */
u64 cosy_arena_extent(u64 address, u64 length);

/*
 * Finds the page at `address` to read it, which is no other's until cosy_slots_end: the caller must
 * not fault.  NULL: there is no page in an arena, and nothing is to be ended.
 */
const u8 *cosy_arena_look(u64 address, struct cosy_slots *ret);

/* The functions below need the arena's lock, which these two take and drop alone. */
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

/* Empties the first `count` slots. */
void cosy_slots_clear(const struct cosy_slots *s, unsigned long count);

/* Returns whether one of the first `count` slots is shared. */
bool cosy_slots_shared(const struct cosy_slots *s, unsigned long count);

/*
 * Fill a parcel, or a port, with the contents of all the slots: pages, with references, or
 * EMPTY.  They do so whole or not at all: -EFAULT (a slot is gone), -ENOMEM, -EINTR.
 *
 *	share	the slots and the parcel have the same pages, marked
 *	copy	the pages are frozen
 *	donate	the pages leave the slots, in which `left` remains: COSY_SLOT_GONE or _EMPTY
 */
int cosy_slots_share(const struct cosy_slots *s, cosy_slot_t *contents);
int cosy_slots_copy(const struct cosy_slots *s, cosy_slot_t *contents);
int cosy_slots_donate(const struct cosy_slots *s, cosy_slot_t *contents, cosy_slot_t left);

/* Puts the contents of a parcel, or a port, into all the slots, which take over the references. */
void cosy_slots_import(const struct cosy_slots *s, const cosy_slot_t *contents);

/* Maps the slots; with `write` so that a write does not fault.  0, -ENOMEM or -EFAULT. */
int cosy_slots_present(const struct cosy_slots *s, bool write);

/* Allocates a page for a slot, not zeroed unless `flags` say so; NULL without memory. */
struct page *cosy_slot_page_alloc(gfp_t flags);

#endif /* COSY_MOVE_ARENA_H */
