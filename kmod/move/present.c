// SPDX-License-Identifier: GPL-2.0
/* present.c - makes an arena's pages present: at faults, or before they are touched. */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include "move/arena.h"
#include "move/huge.h"
#include "move/slots.h"

static __always_inline int slot_prepare(const struct cosy_slots *s, unsigned long k, bool write)
{
	if (write)
		return cosy_slot_own_at(s, k);
	return cosy_slot_page(s->arena->slots[s->i + k]) ? 0 : cosy_slot_fill(s, k);
}

/* Gives slots [from, to) pages; to be written, pages that may be. */
static int slots_prepare(const struct cosy_slots *s, unsigned long from, unsigned long to,
			 bool write)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;
	int error = 0;

	if (write) {
		while (from < to && !error)
			error = cosy_slot_own_at(s, from++);
		return error;
	}
	for (; from < to && !error; from++) {
		if (!cosy_slot_page(slot[from]))
			error = cosy_slot_fill(s, from);
	}
	return error;
}

static int slots_present(const struct cosy_slots *s, unsigned long from, unsigned long to,
			 bool write)
{
	unsigned long end;
	int error;

	for (; from < to; from = end) {
		end = min(to, from + COSY_PAUSE_SLOTS);
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

/* Returns whether there is a huge page, whose entry the next access makes. */
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

/* Returns whether slot k can be mapped along with an earlier one that faulted. */
static bool slot_follows(const struct cosy_slots *s, unsigned long k, bool write)
{
	cosy_slot_t slot = s->arena->slots[s->i + k];
	struct page *page = cosy_slot_page(slot);

	if (!page)
		return false;
	/* An entry of a page that is not frozen may write, as a rule; if not, it faults in turn. */
	if (!write || !cosy_slot_is_frozen(slot))
		return !(slot & COSY_SLOT_MAPPED);
	return !(slot & COSY_SLOT_HUGE) &&
	       page_count(page) == 1 + cosy_slot_is_counted(s->arena, slot);
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
		/* cosy_slot_own_at looks at the page again, and its answer counts. */
		if (write && cosy_slot_own_at(s, k))
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
