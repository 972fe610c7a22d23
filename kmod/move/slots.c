// SPDX-License-Identifier: GPL-2.0
/* slots.c - the pages of an arena: see arena.h for the invariant. */
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "move/arena.h"
#include "move/checks.h"
#include "move/huge.h"
#include "move/slots.h"
#include "stats.h"

/*
 * Loans to sockets: bytes of one whose pages must be frozen first; how many of those may find their
 * pages rewritten before most are made by copying, and one of how many is a loan then.
 */
#define MIN_SOCKET_LOAN SZ_64K
#define MAX_REWRITTEN	4U
#define REWRITTEN_RETRY 16U

/* Slots that are looked at without letting others run. */
#define PAUSE_SLOTS 1024UL

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
	if (k % PAUSE_SLOTS == PAUSE_SLOTS - 1)
		cond_resched();
}

/* The same; -EINTR when the process is to die. */
static __always_inline int slots_pause_killable(unsigned long k)
{
	if (likely(k % PAUSE_SLOTS != PAUSE_SLOTS - 1))
		return 0;
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* --- Slots ------------------------------------------------------------------------------- */

/* Gives slot k, which has none, a page of zeros; -EFAULT when its page was donated. */
static int slot_fill(const struct cosy_slots *s, unsigned long k)
{
	unsigned long *slot = &s->arena->slots[s->i + k];
	struct page *page;

	if (*slot & COSY_SLOT_GONE)
		return -EFAULT;
	page = cosy_slot_page_alloc(__GFP_ZERO);
	if (!page)
		return -ENOMEM;
	*slot = (unsigned long)page;
	return 0;
}

/* Does the work of slot_own for a slot that has no such page; copies a part of a huge page. */
static noinline int slot_own_new(const struct cosy_slots *s, unsigned long k)
{
	unsigned long *slot = &s->arena->slots[s->i + k];
	struct page *page = cosy_slot_page(*slot), *copy;

	if (!page)
		return slot_fill(s, k);
	cosy_slots_uncount(s, k, k + 1);
	/* Looked at once.  Read-only entries that are not counted may stay when nobody else has it. */
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
	*slot = (unsigned long)copy;
	return 0;
}

/* Gives slot k a page that nobody else refers to and that is not frozen. */
static __always_inline int slot_own(const struct cosy_slots *s, unsigned long k)
{
	unsigned long slot = s->arena->slots[s->i + k];

	return cosy_slot_page(slot) && !cosy_slot_is_frozen(slot) ? 0 : slot_own_new(s, k);
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
	error = slot_own(s, 0);
	return error ? ERR_PTR(error) : cosy_slot_page(s->arena->slots[s->i]);
}

/* Tells whether a slot has a page that may leave it: part of a huge page may not. */
static __always_inline bool slot_can_lend(unsigned long slot)
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
static __always_inline struct page *slot_loan(unsigned long slot, gfp_t flags)
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
	unsigned long *slot = s->arena->slots + s->i;
	unsigned long k;
	int error = 0;

	cosy_huge_open(s, 0, count);
	cosy_slots_write_protect(s, count);
	for (k = 0; k < count; k++) {
		if (unlikely(!slot_can_lend(slot[k])))
			error = slot_own_new(s, k);
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
static unsigned long slot_fork(unsigned long slot)
{
	struct page *page = cosy_slot_page(slot);

	if (!page)
		return slot;
	if (slot & COSY_SLOT_HUGE) {
		atomic_inc(&cosy_huge_of_part(page)->holders);
		return (unsigned long)page | COSY_SLOT_HUGE;
	}
	if (slot & COSY_SLOT_SHARED) {
		get_page(page);
		return (unsigned long)page | COSY_SLOT_SHARED;
	}
	return (unsigned long)slot_loan(slot, __GFP_NOFAIL);
}

void cosy_slots_fork(const struct cosy_slots *s, struct cosy_arena *child)
{
	const unsigned long *slot = s->arena->slots + s->i;
	struct cosy_piece p = {};
	unsigned long k;

	/* The child has its words in the same places; of those at its ends it may have a part only. */
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

/* Tells whether slots that rule are empty, and so have no entries. */
static bool slots_are_empty(const struct cosy_slots *s, unsigned long count)
{
	const unsigned long *slot = s->arena->slots + s->i;
	unsigned long all = 0;

	while (count--)
		all |= *slot++;
	return all == COSY_SLOT_EMPTY;
}

/* Empties slots that rule, and have no entries. */
static void slots_clear(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	unsigned long *slot = s->arena->slots + s->i;

	for (; from < to; from++) {
		unsigned long old = slot[from];

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
	const unsigned long *slot = s->arena->slots + s->i;
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

bool cosy_slots_pay(const struct cosy_slots *s, u64 length)
{
	struct page *page = cosy_slot_page(s->arena->slots[s->i]);

	if (page && cosy_page_has_mark(page)) {
		s->arena->rewritten = 0;
		return true;
	}
	if (length < MIN_SOCKET_LOAN)
		return false;
	return s->arena->rewritten++ < MAX_REWRITTEN || s->arena->rewritten % REWRITTEN_RETRY == 0;
}

/* Tells whether an entry of the slot's may refer to the page, beside the slot. */
static bool slot_is_counted(const struct cosy_arena *arena, unsigned long slot)
{
	return arena->pinnable && slot & COSY_SLOT_MAPPED;
}

/* Adds up slots that rule. */
static void slots_count(const struct cosy_arena *arena, unsigned long i, unsigned long count,
			struct cosy_moving *sum)
{
	const unsigned long *slot = arena->slots + i;
	unsigned long k;

	for (k = 0; k < count; k++) {
		struct page *page = cosy_slot_page(slot[k]);

		if (!page || !cosy_slot_is_frozen(slot[k]))
			continue;
		sum->frozen++;
		if (slot[k] & COSY_SLOT_HUGE
			    ? atomic_read(&cosy_huge_of_part(page)->holders) > 1
			    : page_count(page) > 1 + slot_is_counted(arena, slot[k]))
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
static void contents_drop(unsigned long *contents, unsigned long count)
{
	while (count--) {
		struct page *page = cosy_slot_page(contents[count]);

		contents[count] = COSY_SLOT_EMPTY;
		if (page)
			put_page(page);
		slots_pause(count);
	}
}

int cosy_slots_share(const struct cosy_slots *s, unsigned long *contents)
{
	unsigned long *slot = s->arena->slots + s->i;
	unsigned long k;
	int error = 0;

	cosy_huge_open(s, 0, s->count);
	for (k = 0; k < s->count && !error; k++) {
		error = slots_pause_killable(k);
		if (!error)
			error = slot_own(s, k);
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

int cosy_slots_copy(const struct cosy_slots *s, unsigned long *contents)
{
	const unsigned long *slot = s->arena->slots + s->i;
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
			error = slot_own_new(s, k);
		if (error)
			break;
		contents[k] = (unsigned long)slot_loan(slot[k], 0);
		if (!contents[k])
			error = -ENOMEM;
	}
	if (error)
		contents_drop(contents, k);
	return error;
}

/*
 * Tells whether somebody may have pinned a slot's page, which has no entry: then it is not frozen,
 * and may be written at any time.  Nobody can pin it from now on.
 */
static bool slot_is_pinned(const struct cosy_slots *s, unsigned long slot)
{
	struct page *page = cosy_slot_page(slot);

	if (!s->arena->pinnable || !page || cosy_page_has_mark(page) || page_count(page) == 1)
		return false;
	cosy_stats_event(COSY_EVENT_PINNED_COPIED);
	return true;
}

/* Copies the pages that do not leave their slots: shared and pinned ones, and parts of huge ones. */
static int slots_copy_staying(const struct cosy_slots *s, unsigned long *contents)
{
	const unsigned long *slot = s->arena->slots + s->i;
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
		contents[k] = (unsigned long)copy;
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
static unsigned long slots_marks(const struct cosy_slots *s)
{
	const unsigned long *slot = s->arena->slots + s->i;
	unsigned long k, marks = 0;

	for (k = 0; k < s->count; k++) {
		slots_pause(k);
		marks |= slot[k];
	}
	return marks & COSY_SLOT_MARKS;
}

/* Moves the contents of slots that are not marked and have no entries. */
static void slots_move(const struct cosy_slots *s, unsigned long *contents, unsigned long left)
{
	unsigned long *slot = s->arena->slots + s->i;
	unsigned long k;

	for (k = 0; k < s->count; k++) {
		slots_pause(k);
		contents[k] = slot[k];
		slot[k] = left;
	}
}

int cosy_slots_donate(const struct cosy_slots *s, unsigned long *contents, unsigned long left)
{
	unsigned long *slot = s->arena->slots + s->i;
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
		unsigned long old = slot[k];

		slots_pause(k);
		slot[k] = left;
		if (contents[k])
			cosy_slot_put(old);
		else
			contents[k] = (unsigned long)cosy_slot_page(old);
	}
	return 0;
}

void cosy_slots_import(const struct cosy_slots *s, const unsigned long *contents)
{
	cosy_slots_clear(s, s->count);
	cosy_huge_open(s, 0, s->count);
	if (contents[0] & COSY_SLOT_SHARED)
		WRITE_ONCE(s->arena->shares, true);
	memcpy(s->arena->slots + s->i, contents, s->count * sizeof(*contents));
}

/* --- Present ------------------------------------------------------------------------------- */

static __always_inline int slot_prepare(const struct cosy_slots *s, unsigned long k, bool write)
{
	if (write)
		return slot_own(s, k);
	return cosy_slot_page(s->arena->slots[s->i + k]) ? 0 : slot_fill(s, k);
}

/* Gives slots [from, to) pages; to be written, pages that may be. */
static int slots_prepare(const struct cosy_slots *s, unsigned long from, unsigned long to,
			 bool write)
{
	const unsigned long *slot = s->arena->slots + s->i;
	int error = 0;

	if (write) {
		while (from < to && !error)
			error = slot_own(s, from++);
		return error;
	}
	for (; from < to && !error; from++) {
		if (!cosy_slot_page(slot[from]))
			error = slot_fill(s, from);
	}
	return error;
}

static int slots_present(const struct cosy_slots *s, unsigned long from, unsigned long to,
			 bool write)
{
	unsigned long end;
	int error;

	for (; from < to; from = end) {
		end = min(to, from + PAUSE_SLOTS);
		if (write)
			cosy_slots_uncount(s, from, end);
		error = slots_prepare(s, from, end, write);
		if (!error)
			error = cosy_slots_map(s, from, end);
		if (error || end == to)
			return error;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/* Tells whether there is a huge page, whose entry the next access makes. */
static bool piece_is_huge(const struct cosy_slots *s, const struct cosy_piece *p, bool write)
{
	if (!p->word || cosy_slot_address(s, p->from) & ~PMD_MASK)
		return false;
	if (*p->word == COSY_HUGE_EMPTY)
		cosy_huge_fill(p->word);
	if (write && cosy_huge_of(*p->word))
		cosy_huge_own(s, p);
	return cosy_huge_of(*p->word);
}

int cosy_slots_present(const struct cosy_slots *s, bool write)
{
	struct cosy_piece p = {};
	int error = 0;

	if (cosy_huge_is_open(s, 0, s->count))
		return slots_present(s, 0, s->count, write);
	while (!error && cosy_piece_next(s->arena, s->i, s->count, &p)) {
		if (piece_is_huge(s, &p, write))
			continue;
		cosy_huge_open(s, p.from, p.to);
		error = slots_present(s, p.from, p.to, write);
	}
	return error;
}

/* Tells whether slot k can be mapped along with an earlier one that faulted. */
static bool slot_follows(const struct cosy_slots *s, unsigned long k, bool write)
{
	unsigned long slot = s->arena->slots[s->i + k];
	struct page *page = cosy_slot_page(slot);

	if (!page)
		return false;
	/* An entry of a page that is not frozen may write, as a rule; if not, it faults in turn. */
	if (!write || !cosy_slot_is_frozen(slot))
		return !(slot & COSY_SLOT_MAPPED);
	return !(slot & COSY_SLOT_HUGE) && page_count(page) == 1 + slot_is_counted(s->arena, slot);
}

vm_fault_t cosy_slots_fault(const struct cosy_slots *s, bool write)
{
	unsigned long count = 1, k;
	int error;

	while (count < s->count && slot_follows(s, count, write))
		count++;
	if (write)
		cosy_slots_uncount(s, 0, count);
	error = slot_prepare(s, 0, write);
	for (k = 1; !error && k < count; k++) {
		/* slot_own looks at the page again, and its answer counts. */
		if (write && slot_own(s, k))
			break;
	}
	if (!error)
		error = cosy_slots_map(s, 0, k);
	switch (error) {
	case 0:
		return VM_FAULT_NOPAGE;
	case -EFAULT:
		return VM_FAULT_SIGSEGV;
	case -ENOMEM:
		return VM_FAULT_OOM;
	default:
		return VM_FAULT_SIGBUS;
	}
}
