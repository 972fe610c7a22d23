/* SPDX-License-Identifier: GPL-2.0 */
/*
 * huge_page.h - 2 MB of an arena as one huge page: allocated, mapped and moved as a whole.
 *
 * 512 slots whose first one is at a multiple of 2 MB in the arena's file share a word, which
 * records whether the huge page or the slots are valid.  Until the word is COSY_HUGE_PAGES, the
 * slots are all 0 and have no entries.  After that the slots stay valid, unless another huge page
 * takes their place.
 *
 * A huge page has holders: words and parcels, which hold all of it, and slots of an arena where it
 * was split while others held it.  The invariant of arena.h applies to it: only a holder of all of
 * it that is the only holder changes the mark, and only a huge page with one holder is not frozen.
 * Nobody but its holders can refer to its pages: their entries are special, or device memory if the
 * kernel has no special entries of 2 MB (Linux 6.1).
 *
 * An operation on a part opens the word.  The only holder splits the huge page into ordinary pages.
 * Otherwise the slots refer to parts of it, frozen forever, marked COSY_SLOT_HUGE.  Such a part
 * does not leave its slot: it is copied to be written or lent, so nobody keeps 2 MB by holding 4 KB
 * elsewhere.  Opening never fails and needs no memory.
 */
#ifndef COSY_MOVE_HUGE_PAGE_H
#define COSY_MOVE_HUGE_PAGE_H

#include <linux/huge_mm.h>
#include <linux/mm.h>
#include "move/arena.h"

#define COSY_HUGE_ORDER (PMD_SHIFT - PAGE_SHIFT)
#define COSY_HUGE_SLOTS (1UL << COSY_HUGE_ORDER)

/* A word: one of these, or a huge page and whether an entry may refer to it. */
#define COSY_HUGE(bits)	 ((__force cosy_huge_t)(bits))
#define COSY_HUGE_EMPTY	 COSY_HUGE(0UL) /* zeros, when they are touched */
#define COSY_HUGE_MAPPED COSY_HUGE(1UL) /* with a huge page */
#define COSY_HUGE_PAGES	 COSY_HUGE(2UL) /* the slots rule */
#define COSY_HUGE_GONE	 COSY_HUGE(4UL) /* donated */
#define COSY_HUGE_MARKS	 COSY_HUGE(7UL)

struct cosy_huge {
	atomic_t holders;
	bool frozen;	    /* see above */
	struct page *pages; /* COSY_HUGE_SLOTS of them */
	unsigned long sum;  /* of the bytes, when it was frozen with check_moved; else 0 */
};

static inline struct cosy_huge *cosy_huge_of(cosy_huge_t word)
{
	return (__force struct cosy_huge *)(word & ~COSY_HUGE_MARKS);
}

/* Returns the word of a huge page, without marks; EMPTY for NULL. */
static inline cosy_huge_t cosy_huge_word_of(const struct cosy_huge *huge)
{
	return (__force cosy_huge_t)huge;
}

/* Returns the huge page that a slot's page is a part of; the slot is marked COSY_SLOT_HUGE. */
static inline struct cosy_huge *cosy_huge_of_part(const struct page *page)
{
	unsigned long first = ALIGN_DOWN(page_to_pfn(page), COSY_HUGE_SLOTS);

	return (struct cosy_huge *)page_private(pfn_to_page(first));
}

/* Returns how many slots before the arena's first one the first word's begin. */
static inline unsigned long cosy_huge_skew(const struct cosy_arena *arena)
{
	return arena->first % COSY_HUGE_SLOTS;
}

/* Returns the word of slot i, which may be that of fewer slots; NULL: there are none. */
static inline cosy_huge_t *cosy_huge_word(const struct cosy_arena *arena, unsigned long i)
{
	return arena->huge ? &arena->huge[(cosy_huge_skew(arena) + i) / COSY_HUGE_SLOTS] : NULL;
}

/* Returns whether slots [from, to) all rule, so that nothing is to be opened. */
static inline bool cosy_huge_is_open(const struct cosy_slots *s, unsigned long from,
				     unsigned long to)
{
	const cosy_huge_t *words = s->arena->huge;
	unsigned long first = cosy_huge_skew(s->arena) + s->i, w;

	if (!words || from >= to)
		return true;
	for (w = (first + from) / COSY_HUGE_SLOTS; w <= (first + to - 1) / COSY_HUGE_SLOTS; w++) {
		if (words[w] != COSY_HUGE_PAGES)
			return false;
	}
	return true;
}

/* Some slots that one rule holds for. */
struct cosy_piece {
	unsigned long from, to; /* from the first slot that is looked at on */
	cosy_huge_t *word;	/* theirs, when they are all that it has */
};

/* Finds the next piece of the `count` slots from `i` on; the first one after a piece of zeros. */
bool cosy_piece_next(const struct cosy_arena *arena, unsigned long i, unsigned long count,
		     struct cosy_piece *piece);

/* Allocates the words of an arena, all empty; with __GFP_NOFAIL that succeeds. */
int cosy_huge_words(struct cosy_arena *arena, gfp_t flags);

/* Allocates a huge page of zeros with one holder.  NULL: there is no memory for one. */
struct cosy_huge *cosy_huge_alloc(void);

/* Drops a holder. */
void cosy_huge_put(struct cosy_huge *huge);

/* Freezes a huge page for one more holder, and returns it; no entry may write it. */
struct cosy_huge *cosy_huge_loan(struct cosy_huge *huge);

/* Makes a huge page writable, which has one holder only. */
void cosy_huge_thaw(struct cosy_huge *huge);

/* Makes ordinary pages of a huge page with no other holder, which is freed. */
void cosy_huge_split(struct cosy_huge *huge, cosy_slot_t *slots);

#endif /* COSY_MOVE_HUGE_PAGE_H */
