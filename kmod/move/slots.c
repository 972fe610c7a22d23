// SPDX-License-Identifier: GPL-2.0
/* slots.c - the pages of an arena: see arena.h for the invariant. */
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "move/arena.h"
#include "move/checks.h"
#include "move/huge.h"
#include "move/slots.h"
#include "stats.h"

/* --- Pages ------------------------------------------------------------------------------- */

const char cosy_frozen_mark;

bool cosy_page_is_frozen(const struct page *page)
{
	return cosy_page_has_mark(page);
}

/*
 * Dirty, so that FUSE does not move the page into a file's page cache, mark and all, when a pipe's
 * buffer of vmsplice is its last holder: it takes no page with flags that it does not know.  To
 * nobody else is a page without a mapping dirty.
 */
static __always_inline void page_freeze(struct page *page)
{
	SetPageDirty(page);
	*cosy_page_sum_of(page) = unlikely(cosy_pages_checked()) ? cosy_page_sum(page, 0) : 0;
	set_page_private(page, COSY_FROZEN);
}

void cosy_page_freeze(struct page *page)
{
	page_freeze(page);
}

static void page_thaw(struct page *page)
{
	cosy_page_check(page);
	set_page_private(page, 0);
	ClearPageDirty(page);
}

struct page *cosy_slot_page_alloc(gfp_t flags)
{
	struct page *page;

	if (!(flags & __GFP_NOFAIL) && cosy_page_fails())
		return NULL;
	page = alloc_page(GFP_HIGHUSER | __GFP_ACCOUNT | __GFP_NOWARN | flags);
	if (page)
		set_page_private(page, 0);
	return page;
}

/* Lets others run now and then in a loop over slots, of which there may be many. */
static void slots_pause(unsigned long k)
{
	if (k % COSY_PAUSE_SLOTS == COSY_PAUSE_SLOTS - 1)
		cond_resched();
}

/* The same; -EINTR when the process is to die. */
static __always_inline int slots_pause_killable(unsigned long k)
{
	if (likely(k % COSY_PAUSE_SLOTS != COSY_PAUSE_SLOTS - 1))
		return 0;
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* --- Slots ------------------------------------------------------------------------------- */

int cosy_slot_fill(const struct cosy_slots *s, unsigned long k)
{
	cosy_slot_t *slot = &s->arena->slots[s->i + k];
	struct page *page;

	if (*slot & COSY_SLOT_GONE)
		return -EFAULT;
	page = cosy_slot_page_alloc(__GFP_ZERO);
	if (!page)
		return -ENOMEM;
	*slot = cosy_slot_of(page);
	return 0;
}

/* Copies a part of a huge page. */
noinline int cosy_slot_own_new(const struct cosy_slots *s, unsigned long k)
{
	cosy_slot_t *slot = &s->arena->slots[s->i + k];
	struct page *page = cosy_slot_page(*slot), *copy;

	if (!page)
		return cosy_slot_fill(s, k);
	cosy_slots_uncount(s, k, k + 1);
	/*
	 * Looked at once.  Read-only entries that are not counted may stay when nobody else has it.
	 */
	if (!(*slot & COSY_SLOT_HUGE) && page_count(page) == 1 + (page == s->held)) {
		page_thaw(page);
		return 0;
	}
	copy = cosy_slot_page_alloc(0);
	if (!copy)
		return -ENOMEM;
	if (unlikely(cosy_pages_checked()) && !(*slot & COSY_SLOT_HUGE))
		cosy_page_check(page);
	copy_highpage(copy, page);
	if (*slot & COSY_SLOT_MAPPED)
		cosy_slots_unmap_pages(s, k, k + 1);
	cosy_slot_put(*slot);
	*slot = cosy_slot_of(copy);
	return 0;
}

struct page *cosy_slots_page(const struct cosy_slots *s)
{
	struct page *part = cosy_huge_part(s->arena, s->i);

	return part ? part : cosy_slot_page(s->arena->slots[s->i]);
}

struct page *cosy_slot_own(const struct cosy_slots *s)
{
	int error;

	cosy_huge_open(s, 0, 1);
	error = cosy_slot_own_at(s, 0);
	return error ? ERR_PTR(error) : cosy_slot_page(s->arena->slots[s->i]);
}

/* Returns whether a slot has a page that may leave it: part of a huge page may not. */
static __always_inline bool slot_can_lend(cosy_slot_t slot)
{
	return cosy_slot_page(slot) && !(slot & COSY_SLOT_HUGE);
}

/* Returns a frozen copy of a page; NULL: there is no memory. */
static noinline struct page *page_copy_frozen(struct page *page, gfp_t flags)
{
	struct page *copy = cosy_slot_page_alloc(flags);

	if (!copy)
		return NULL;
	copy_highpage(copy, page);
	page_freeze(copy);
	return copy;
}

/*
 * Takes another reference to a slot's page as it is now, or makes a frozen copy.  No entry may
 * write the page, unless it is shared: then it is copied.  Also copies a page that is not frozen if
 * others refer to it: they may have pinned it, and write it at any time.
 */
static __always_inline struct page *slot_loan(cosy_slot_t slot, gfp_t flags)
{
	struct page *page = cosy_slot_page(slot);

	if (!cosy_page_has_mark(page)) {
		if (slot & COSY_SLOT_SHARED)
			return page_copy_frozen(page, flags);
		if (page_count(page) != 1) {
			cosy_stats_event(COSY_EVENT_PINNED_COPIED);
			return page_copy_frozen(page, flags);
		}
		page_freeze(page);
	}
	get_page(page);
	return page;
}

long cosy_slots_loan(const struct cosy_slots *s, unsigned long count, struct page **pages)
{
	cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long k;
	int error = 0;

	cosy_huge_open(s, 0, count);
	cosy_slots_write_protect(s, count);
	for (k = 0; k < count; k++) {
		if (unlikely(!slot_can_lend(slot[k])))
			error = cosy_slot_own_new(s, k);
		if (error)
			break;
		pages[k] = slot_loan(slot[k], 0);
		if (!pages[k]) {
			error = -ENOMEM;
			break;
		}
	}
	return k ? k : error;
}

/* Returns another reference to a slot's contents.  No entry refers to its page. */
static cosy_slot_t slot_fork(cosy_slot_t slot)
{
	struct page *page = cosy_slot_page(slot);

	if (!page)
		return slot;
	if (slot & COSY_SLOT_HUGE) {
		atomic_inc(&cosy_huge_of_part(page)->holders);
		return cosy_slot_of(page) | COSY_SLOT_HUGE;
	}
	if (slot & COSY_SLOT_SHARED) {
		get_page(page);
		return cosy_slot_of(page) | COSY_SLOT_SHARED;
	}
	return cosy_slot_of(slot_loan(slot, __GFP_NOFAIL));
}

void cosy_slots_fork(const struct cosy_slots *s, struct cosy_arena *child)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;
	struct cosy_piece p = {};
	unsigned long k;

	/*
	 * The child has its words in the same places; of those at its ends it may have a part only.
	 */
	cosy_huge_open_parts(s, s->count);
	cosy_slots_unmap(s, s->count);
	while (cosy_piece_next(s->arena, s->i, s->count, &p)) {
		if (p.word)
			*cosy_huge_word(child, p.from) = *p.word;
		if (p.word && *p.word != COSY_HUGE_PAGES) {
			if (cosy_huge_of(*p.word))
				cosy_huge_loan(cosy_huge_of(*p.word));
			continue;
		}
		for (k = p.from; k < p.to; k++) {
			child->slots[k] = slot_fork(slot[k]);
			/* The fork of a process that is to die fails anyway: see buffer_copy. */
			if (slots_pause_killable(k))
				return;
		}
	}
}

/* Returns whether slots that rule are empty, and so have no entries. */
static bool slots_are_empty(const struct cosy_slots *s, unsigned long count)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;
	cosy_slot_t all = COSY_SLOT_EMPTY;

	while (count--)
		all |= *slot++;
	return all == COSY_SLOT_EMPTY;
}

/* Empties slots that rule, and have no entries. */
static void slots_clear(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	cosy_slot_t *slot = s->arena->slots + s->i;

	for (; from < to; from++) {
		cosy_slot_t old = slot[from];

		slots_pause(from);
		slot[from] = COSY_SLOT_EMPTY;
		cosy_slot_put(old);
	}
}

void cosy_slots_clear(const struct cosy_slots *s, unsigned long count)
{
	struct cosy_piece p = {};

	if (cosy_huge_is_open(s, 0, count)) {
		if (!slots_are_empty(s, count)) {
			cosy_slots_unmap_pages(s, 0, count);
			slots_clear(s, 0, count);
		}
		return;
	}
	cosy_huge_open_parts(s, count);
	cosy_slots_unmap(s, count);
	while (cosy_piece_next(s->arena, s->i, count, &p)) {
		if (!p.word || *p.word == COSY_HUGE_PAGES) {
			slots_clear(s, p.from, p.to);
			continue;
		}
		cosy_huge_drop(p.word);
		cond_resched();
	}
}

bool cosy_slots_shared(const struct cosy_slots *s, unsigned long count)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long k;

	for (k = 0; k < count; k++) {
		if (slot[k] & COSY_SLOT_SHARED)
			return true;
	}
	return false;
}

void cosy_slots_put(const struct cosy_slots *s, unsigned long count, struct page **pages)
{
	/* A slot that has no mark is the page's address. */
	BUILD_BUG_ON(sizeof(*pages) != sizeof(*s->arena->slots));
	cosy_slots_clear(s, count);
	cosy_huge_open(s, 0, count);
	memcpy(s->arena->slots + s->i, pages, count * sizeof(*pages));
}

/* Adds up slots that rule. */
static void slots_count(const struct cosy_arena *arena, unsigned long i, unsigned long count,
			struct cosy_moving *sum)
{
	const cosy_slot_t *slot = arena->slots + i;
	unsigned long k;

	for (k = 0; k < count; k++) {
		struct page *page = cosy_slot_page(slot[k]);

		if (!page || !cosy_slot_is_frozen(slot[k]))
			continue;
		sum->frozen++;
		if (slot[k] & COSY_SLOT_HUGE
			    ? atomic_read(&cosy_huge_of_part(page)->holders) > 1
			    : page_count(page) > 1 + cosy_slot_is_counted(arena, slot[k]))
			sum->under_way++;
	}
}

void cosy_slots_count(const struct cosy_arena *arena, unsigned long i, unsigned long count,
		      struct cosy_moving *sum)
{
	struct cosy_piece p = {};

	while (cosy_piece_next(arena, i, count, &p)) {
		const struct cosy_huge *huge = p.word ? cosy_huge_of(*p.word) : NULL;

		if (!huge) {
			slots_count(arena, i + p.from, p.to - p.from, sum);
			continue;
		}
		sum->huge++;
		if (!huge->frozen)
			continue;
		sum->frozen += COSY_HUGE_SLOTS;
		if (atomic_read(&huge->holders) > 1)
			sum->under_way += COSY_HUGE_SLOTS;
	}
}

/* --- Parcels ------------------------------------------------------------------------------- */

/* Drops pages that were put into a parcel before an error. */
static void contents_drop(cosy_slot_t *contents, unsigned long count)
{
	while (count--) {
		struct page *page = cosy_slot_page(contents[count]);

		contents[count] = COSY_SLOT_EMPTY;
		if (page)
			put_page(page);
		slots_pause(count);
	}
}

int cosy_slots_share(const struct cosy_slots *s, cosy_slot_t *contents)
{
	cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long k;
	int error = 0;

	cosy_huge_open(s, 0, s->count);
	for (k = 0; k < s->count && !error; k++) {
		error = slots_pause_killable(k);
		if (!error)
			error = cosy_slot_own_at(s, k);
	}
	if (error)
		return error;
	WRITE_ONCE(s->arena->shares, true);
	for (k = 0; k < s->count; k++) {
		slots_pause(k);
		get_page(cosy_slot_page(slot[k]));
		slot[k] |= COSY_SLOT_SHARED;
		contents[k] = slot[k] & ~COSY_SLOT_MAPPED;
	}
	return 0;
}

int cosy_slots_copy(const struct cosy_slots *s, cosy_slot_t *contents)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long k;
	int error = 0;

	cosy_huge_open(s, 0, s->count);
	cosy_slots_write_protect(s, s->count);
	for (k = 0; k < s->count && !error; k++) {
		error = slots_pause_killable(k);
		if (error)
			break;
		if (slot[k] & COSY_SLOT_GONE)
			error = -EFAULT;
		if (!cosy_slot_page(slot[k]))
			continue;
		if (unlikely(!slot_can_lend(slot[k])))
			error = cosy_slot_own_new(s, k);
		if (error)
			break;
		contents[k] = cosy_slot_of(slot_loan(slot[k], 0));
		if (!contents[k])
			error = -ENOMEM;
	}
	if (error)
		contents_drop(contents, k);
	return error;
}

/*
 * Returns whether somebody may have pinned a slot's page, which has no entry: then it is not
 * frozen, and may be written at any time.  Nobody can pin it from now on.
 */
static bool slot_is_pinned(const struct cosy_slots *s, cosy_slot_t slot)
{
	struct page *page = cosy_slot_page(slot);

	if (!s->arena->pinnable || !page || cosy_page_has_mark(page) || page_count(page) == 1)
		return false;
	cosy_stats_event(COSY_EVENT_PINNED_COPIED);
	return true;
}

/*
 * Copies the pages that do not leave their slots: shared and pinned ones, and parts of huge ones.
 */
static int slots_copy_staying(const struct cosy_slots *s, cosy_slot_t *contents)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long k;
	int error = 0;

	for (k = 0; k < s->count && !error; k++) {
		struct page *page = cosy_slot_page(slot[k]), *copy;

		error = slots_pause_killable(k);
		if (!error && slot[k] & COSY_SLOT_GONE)
			error = -EFAULT;
		if (error ||
		    !(slot[k] & (COSY_SLOT_SHARED | COSY_SLOT_HUGE) || slot_is_pinned(s, slot[k])))
			continue;
		copy = cosy_slot_page_alloc(0);
		contents[k] = cosy_slot_of(copy);
		if (copy)
			copy_highpage(copy, page);
		else
			error = -ENOMEM;
	}
	if (error)
		contents_drop(contents, k);
	return error;
}

/* Returns the marks that some of the slots have. */
static cosy_slot_t slots_marks(const struct cosy_slots *s)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;
	cosy_slot_t marks = COSY_SLOT_EMPTY;
	unsigned long k;

	for (k = 0; k < s->count; k++) {
		slots_pause(k);
		marks |= slot[k];
	}
	return marks & COSY_SLOT_MARKS;
}

/* Moves the contents of slots that are not marked and have no entries. */
static void slots_move(const struct cosy_slots *s, cosy_slot_t *contents, cosy_slot_t left)
{
	cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long k;

	for (k = 0; k < s->count; k++) {
		slots_pause(k);
		contents[k] = slot[k];
		slot[k] = left;
	}
}

int cosy_slots_donate(const struct cosy_slots *s, cosy_slot_t *contents, cosy_slot_t left)
{
	cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long k;
	bool some_stay;
	int error;

	cosy_huge_open(s, 0, s->count);
	cosy_slots_unmap_pages(s, 0, s->count);
	some_stay = s->arena->pinnable || slots_marks(s);
	error = some_stay ? slots_copy_staying(s, contents) : 0;
	if (error)
		return error;
	if (!some_stay) {
		slots_move(s, contents, left);
		return 0;
	}
	for (k = 0; k < s->count; k++) {
		cosy_slot_t old = slot[k];

		slots_pause(k);
		slot[k] = left;
		if (contents[k])
			cosy_slot_put(old);
		else
			contents[k] = cosy_slot_of(cosy_slot_page(old));
	}
	return 0;
}

void cosy_slots_import(const struct cosy_slots *s, const cosy_slot_t *contents)
{
	cosy_slots_clear(s, s->count);
	cosy_huge_open(s, 0, s->count);
	if (contents[0] & COSY_SLOT_SHARED)
		WRITE_ONCE(s->arena->shares, true);
	memcpy(s->arena->slots + s->i, contents, s->count * sizeof(*contents));
}
