// SPDX-License-Identifier: GPL-2.0
/* huge.c - see huge.h. */
#include <linux/mm.h>
#include "compat/compat.h"
#include "compat/huge_entry.h"
#include "move/huge.h"
#include "move/slots.h"
#include "stats.h"

/* --- Words ------------------------------------------------------------------------------- */

/* Removes the entry of a huge page of which `s` has some slots: slot `first` is its first. */
static void word_unmap(const struct cosy_slots *s, cosy_huge_t *word, unsigned long first)
{
	unsigned long start = s->address + ((first - s->i) << PAGE_SHIFT), end = start + PMD_SIZE;

	if (!(*word & COSY_HUGE_MAPPED))
		return;
	*word &= ~COSY_HUGE_MAPPED;
	/* A mapping that was split since has no such entry left. */
	if (start >= s->vma->vm_start && end <= s->vma->vm_end)
		cosy_zap_vma(s->vma, start, PMD_SIZE);
}

/* Has slots from `first` on rule in a word's place. */
static void word_open(const struct cosy_slots *s, cosy_huge_t *word, unsigned long first)
{
	cosy_slot_t *slot = s->arena->slots + first;
	struct cosy_huge *huge;
	unsigned long k;
	cosy_huge_t old;

	word_unmap(s, word, first);
	old = *word;
	*word = COSY_HUGE_PAGES;
	if (old == COSY_HUGE_EMPTY)
		return;
	if (old == COSY_HUGE_GONE) {
		for (k = 0; k < COSY_HUGE_SLOTS; k++)
			slot[k] = COSY_SLOT_GONE;
		return;
	}
	huge = cosy_huge_of(old);
	if (atomic_read(&huge->holders) == 1) {
		cosy_huge_split(huge, slot);
		return;
	}
	atomic_add(COSY_HUGE_SLOTS - 1, &huge->holders);
	for (k = 0; k < COSY_HUGE_SLOTS; k++)
		slot[k] = cosy_slot_of(huge->pages + k) | COSY_SLOT_HUGE;
}

void cosy_huge_open_words(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	const struct cosy_arena *arena = s->arena;
	unsigned long skew = cosy_huge_skew(arena), w, last;

	last = (skew + s->i + to - 1) / COSY_HUGE_SLOTS;
	for (w = (skew + s->i + from) / COSY_HUGE_SLOTS; w <= last; w++) {
		if (arena->huge[w] != COSY_HUGE_PAGES)
			word_open(s, &arena->huge[w], w * COSY_HUGE_SLOTS - skew);
	}
}

void cosy_huge_open_parts(const struct cosy_slots *s, unsigned long count)
{
	struct cosy_piece p = {};

	while (cosy_piece_next(s->arena, s->i, count, &p)) {
		if (!p.word)
			cosy_huge_open(s, p.from, p.to);
	}
}

void cosy_huge_drop(cosy_huge_t *word)
{
	cosy_huge_t old = *word;

	*word = COSY_HUGE_EMPTY;
	if (cosy_huge_of(old))
		cosy_huge_put(cosy_huge_of(old));
}

struct page *cosy_huge_part(const struct cosy_arena *arena, unsigned long i)
{
	const cosy_huge_t *word = cosy_huge_word(arena, i);

	if (!word || !cosy_huge_of(*word))
		return NULL;
	return cosy_huge_of(*word)->pages + (cosy_huge_skew(arena) + i) % COSY_HUGE_SLOTS;
}

void cosy_huge_fill(cosy_huge_t *word)
{
	struct cosy_huge *huge = cosy_huge_alloc();

	if (!huge)
		cosy_stats_event(COSY_EVENT_HUGE_FAILED);
	*word = huge ? cosy_huge_word_of(huge) : COSY_HUGE_PAGES;
}

/* Returns whether the huge page can be written, and makes it so: nobody else has it. */
static bool huge_own(struct cosy_huge *huge)
{
	if (!huge->frozen)
		return true;
	/* Looked at once.  Read-only entries may stay when nobody else has it. */
	if (atomic_read(&huge->holders) != 1)
		return false;
	cosy_huge_thaw(huge);
	return true;
}

void cosy_huge_own(const struct cosy_slots *s, const struct cosy_piece *piece)
{
	if (!huge_own(cosy_huge_of(*piece->word)))
		word_open(s, piece->word, s->i + piece->from);
}

/* --- Faults ------------------------------------------------------------------------------ */

/* Returns whether one entry can map the word's slots; `address` is the first one's. */
static bool word_is_mappable(const struct vm_fault *vmf, unsigned long address)
{
	/* A table that was made for pages stays as long as the mapping. */
	return !(address & ~PMD_MASK) && address >= vmf->vma->vm_start &&
	       address + PMD_SIZE <= vmf->vma->vm_end && cosy_entry_takes_huge(vmf->pmd);
}

vm_fault_t cosy_huge_fault(const struct cosy_slots *s, struct vm_fault *vmf, bool write)
{
	cosy_huge_t *word = cosy_huge_word(s->arena, s->i);
	unsigned long part, address;
	struct cosy_huge *huge;

	if (!word || *word == COSY_HUGE_PAGES)
		return VM_FAULT_FALLBACK;
	if (*word == COSY_HUGE_GONE)
		return VM_FAULT_SIGSEGV;
	part = (cosy_huge_skew(s->arena) + s->i) % COSY_HUGE_SLOTS;
	address = s->address - (part << PAGE_SHIFT);
	if (!word_is_mappable(vmf, address))
		return VM_FAULT_FALLBACK;
	if (*word == COSY_HUGE_EMPTY)
		cosy_huge_fill(word);
	huge = cosy_huge_of(*word);
	if (!huge || (write && !huge_own(huge)))
		return VM_FAULT_FALLBACK;
	*word |= COSY_HUGE_MAPPED;
	return cosy_entry_insert_huge(vmf, huge->pages,
				      !huge->frozen && vmf->vma->vm_flags & VM_WRITE);
}

void cosy_huge_touch(const struct cosy_slots *s, bool write)
{
	struct cosy_piece p = {};

	while (cosy_piece_next(s->arena, s->i, s->count, &p)) {
		cosy_huge_t word = p.word ? READ_ONCE(*p.word) : COSY_HUGE_PAGES;

		if (cosy_huge_of(word) && !(word & COSY_HUGE_MAPPED))
			handle_mm_fault(s->vma, s->address + (p.from << PAGE_SHIFT),
					write ? FAULT_FLAG_WRITE : 0, NULL);
	}
}

/* --- Parcels ----------------------------------------------------------------------------- */

bool cosy_huge_fits(const struct cosy_slots *s)
{
	return s->arena->huge && !((cosy_huge_skew(s->arena) + s->i) % COSY_HUGE_SLOTS) &&
	       !(s->count % COSY_HUGE_SLOTS);
}

/* Checks whether all of it can be moved by huge pages: 0, -EAGAIN or -EFAULT. */
static int huge_check_all(const struct cosy_slots *s)
{
	struct cosy_piece p = {};

	while (cosy_piece_next(s->arena, s->i, s->count, &p)) {
		if (!p.word || *p.word == COSY_HUGE_PAGES)
			return -EAGAIN;
		if (*p.word == COSY_HUGE_GONE)
			return -EFAULT;
	}
	return 0;
}

bool cosy_huge_are_alone(const struct cosy_slots *s)
{
	struct cosy_piece p = {};

	if (!s->arena->huge)
		return false;
	while (cosy_piece_next(s->arena, s->i, s->count, &p)) {
		const struct cosy_huge *huge;

		if (!p.word || *p.word == COSY_HUGE_PAGES || *p.word == COSY_HUGE_GONE)
			return false;
		huge = cosy_huge_of(*p.word);
		/* Looked at once.  There can be no more while the word has it whole, alone. */
		if (huge && atomic_read(&huge->holders) != 1)
			return false;
	}
	return true;
}

int cosy_huge_copy(const struct cosy_slots *s, cosy_huge_t *contents)
{
	int error = huge_check_all(s);
	struct cosy_piece p = {};

	while (!error && cosy_piece_next(s->arena, s->i, s->count, &p)) {
		struct cosy_huge *huge = cosy_huge_of(*p.word);

		if (huge && !huge->frozen)
			word_unmap(s, p.word, s->i + p.from);
		*contents++ = huge ? cosy_huge_word_of(cosy_huge_loan(huge)) : COSY_HUGE_EMPTY;
	}
	return error;
}

int cosy_huge_donate(const struct cosy_slots *s, cosy_huge_t *contents, cosy_slot_t left)
{
	int error = huge_check_all(s);
	struct cosy_piece p = {};

	if (error)
		return error;
	cosy_slots_unmap(s, s->count);
	while (cosy_piece_next(s->arena, s->i, s->count, &p)) {
		*contents++ = *p.word;
		*p.word = left == COSY_SLOT_GONE ? COSY_HUGE_GONE : COSY_HUGE_EMPTY;
	}
	return 0;
}

void cosy_huge_import(const struct cosy_slots *s, const cosy_huge_t *contents)
{
	struct cosy_piece p = {};

	while (cosy_piece_next(s->arena, s->i, s->count, &p)) {
		if (*contents)
			*p.word = *contents;
		contents++;
	}
}
