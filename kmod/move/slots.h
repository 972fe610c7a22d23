/* SPDX-License-Identifier: GPL-2.0 */
/* slots.h - the internal interface of arena.c, slots.c, present.c and entries.c. */
#ifndef COSY_MOVE_SLOTS_H
#define COSY_MOVE_SLOTS_H

#include "move/arena.h"
#include "move/huge_page.h"

/*
 * Maps slot `s->i`, which rules, and as many of the next ones as need neither a page nor an entry
 * removed.  Returns a VM_FAULT_* code; the arena's lock is held.
 */
vm_fault_t cosy_slots_fault(const struct cosy_slots *s, bool write);

/*
 * Returns the page of slot `s->i`, to be written in place through the kernel's mapping; or an
 * error.
 */
struct page *cosy_slot_own(const struct cosy_slots *s);

/* Adds up frozen pages, and those of them that others have as well; the arena's lock is held. */
void cosy_slots_count(const struct cosy_arena *arena, unsigned long i, unsigned long count,
		      struct cosy_moving *sum);

/* A page's private field while the page is frozen. */
extern const char cosy_frozen_mark;
#define COSY_FROZEN ((unsigned long)&cosy_frozen_mark)

static __always_inline bool cosy_page_has_mark(const struct page *page)
{
	return READ_ONCE(page->private) == COSY_FROZEN && !page->mapping;
}

/* Returns whether the bytes of a slot's page cannot change while the slot has it. */
static __always_inline bool cosy_slot_is_frozen(cosy_slot_t slot)
{
	return (slot & COSY_SLOT_HUGE) || cosy_page_has_mark(cosy_slot_page(slot));
}

/* Slots that are looked at without letting others run. */
#define COSY_PAUSE_SLOTS 1024UL

/* Returns whether an entry of the slot's may refer to the page, beside the slot. */
static inline bool cosy_slot_is_counted(const struct cosy_arena *arena, cosy_slot_t slot)
{
	return arena->pinnable && (slot & COSY_SLOT_MAPPED);
}

/* Gives slot k, which has none, a page of zeros; -EFAULT when its page was donated, -ENOMEM. */
int cosy_slot_fill(const struct cosy_slots *s, unsigned long k);

/* Does the work of cosy_slot_own_at for a slot that has no such page. */
int cosy_slot_own_new(const struct cosy_slots *s, unsigned long k);

/* Gives slot k a page that nobody else refers to and that is not frozen. */
static __always_inline int cosy_slot_own_at(const struct cosy_slots *s, unsigned long k)
{
	cosy_slot_t slot = s->arena->slots[s->i + k];

	return cosy_slot_page(slot) && !cosy_slot_is_frozen(slot) ? 0 : cosy_slot_own_new(s, k);
}

static inline unsigned long cosy_slot_address(const struct cosy_slots *s, unsigned long k)
{
	return s->address + (k << PAGE_SHIFT);
}

/*
 * Maps slots [from, to), which have pages: those that are not frozen to be written, if the mapping
 * may be.
 */
int cosy_slots_map(const struct cosy_slots *s, unsigned long from, unsigned long to);

/* Removes every entry of slots [from, to), which rule. */
void cosy_slots_unmap_pages(const struct cosy_slots *s, unsigned long from, unsigned long to);

/* Removes the counted entries of frozen pages in slots [from, to): each refers to its page. */
void cosy_slots_uncount(const struct cosy_slots *s, unsigned long from, unsigned long to);

/* Removes every entry that may write a page which a loan of the first `count` slots can freeze. */
void cosy_slots_write_protect(const struct cosy_slots *s, unsigned long count);

/* Removes every entry of the first `count` slots, or pages of 2 MB that lie within them. */
void cosy_slots_unmap(const struct cosy_slots *s, unsigned long count);

/*
 * Drops a slot's contents; it has no entry.  A page without other holders is freed as a page that
 * was allocated alone and is in no list; put_page would check that.
 */
static inline void cosy_slot_put(cosy_slot_t slot)
{
	struct page *page = cosy_slot_page(slot);

	if (unlikely(slot & COSY_SLOT_HUGE))
		cosy_huge_put(cosy_huge_of_part(page));
	else if (page && page_count(page) == 1)
		__free_page(page);
	else if (page)
		put_page(page);
}

/* Marks a page as frozen; arena.h has the conditions. */
void cosy_page_freeze(struct page *page);

/* Fills a child's arena for fork: with references to the pages that all the slots have now. */
void cosy_slots_fork(const struct cosy_slots *s, struct cosy_arena *child);

/* Returns the page of the first slot, to be read under the lock; NULL: it has none. */
struct page *cosy_slots_page(const struct cosy_slots *s);

#endif /* COSY_MOVE_SLOTS_H */
