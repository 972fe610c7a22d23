/* SPDX-License-Identifier: GPL-2.0 */
/* huge.h - the huge pages of an arena, mapped and moved: see huge_page.h. */
#ifndef COSY_MOVE_HUGE_H
#define COSY_MOVE_HUGE_H

#include "move/huge_page.h"

/* The functions below need the arena's lock. */

/* Makes slots [from, to) rule, one at least, of which some do not. */
void cosy_huge_open_words(const struct cosy_slots *s, unsigned long from, unsigned long to);

/* Makes slots [from, to) rule. */
static inline void cosy_huge_open(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	if (!cosy_huge_is_open(s, from, to))
		cosy_huge_open_words(s, from, to);
}

/* Does so where the first `count` slots are a part of 2 MB only. */
void cosy_huge_open_parts(const struct cosy_slots *s, unsigned long count);

/* Makes a word empty, whose slots do not rule. */
void cosy_huge_drop(cosy_huge_t *word);

/* Returns the page of slot i as part of a huge page; NULL: it is none. */
struct page *cosy_huge_part(const struct cosy_arena *arena, unsigned long i);

/*
 * Maps 2 MB for a fault at the first slot.  VM_FAULT_FALLBACK: that must be done page by page, once
 * the slot was opened.
 */
vm_fault_t cosy_huge_fault(const struct cosy_slots *s, struct vm_fault *vmf, bool write);

/* Allocates a huge page for an empty word, if there is one; else the slots rule. */
void cosy_huge_fill(cosy_huge_t *word);

/* Makes a huge page writable, which is the only holder's; else the slots rule. */
void cosy_huge_own(const struct cosy_slots *s, const struct cosy_piece *piece);

/* Returns whether huge pages can be put into all the slots. */
bool cosy_huge_fits(const struct cosy_slots *s);

/*
 * Fill a parcel with huge pages, or EMPTY, one for each 2 MB, as cosy_slots_copy and
 * cosy_slots_donate do; -EAGAIN: not all of it is huge pages.
 */
int cosy_huge_copy(const struct cosy_slots *s, cosy_huge_t *contents);
int cosy_huge_donate(const struct cosy_slots *s, cosy_huge_t *contents, cosy_slot_t left);

/*
 * Returns whether the slots are all huge pages, or empty, and each has no other holder; then
 * cosy_huge_donate does not fail, and its result can be split while nobody copies it.
 */
bool cosy_huge_are_alone(const struct cosy_slots *s);

/* Puts such contents into all the slots, which they fit and which are empty. */
void cosy_huge_import(const struct cosy_slots *s, const cosy_huge_t *contents);

/* Makes the entries of huge pages, as an access would.  The lock is not held, the mmap lock is. */
void cosy_huge_touch(const struct cosy_slots *s, bool write);

#endif /* COSY_MOVE_HUGE_H */
