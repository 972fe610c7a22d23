// SPDX-License-Identifier: GPL-2.0
/* folio_cursor.c - see folio_cursor.h. */
#include <linux/pagevec.h>
#include <linux/swap.h>
#include "fast/folio_cursor.h"

/* Lets go of the folio at hand, also for a processor that guesses that it is there. */
static void leave_folio(struct cosy_hold *held)
{
	if (held->end)
		folio_put(held->folio);
	held->end = 0;
	held->base = NULL;
	held->mask = 0;
}

/* Lets go of one file's. */
static void empty(struct cosy_hold *held)
{
	leave_folio(held);
	while (held->next < held->count)
		folio_put(held->ahead[held->next++]);
}

void cosy_hold_drop(struct cosy_activation *run)
{
	int i;

	if (!(run->held & COSY_HELD_FOLIOS))
		return;
	for (i = 0; i < COSY_HOLDS; i++)
		empty(&run->hold[i]);
	run->held &= ~COSY_HELD_FOLIOS;
}

/* The file's own, or the one that has not been taken for longest. */
static struct cosy_hold *choose(struct cosy_activation *run, const struct address_space *mapping)
{
	struct cosy_hold *held;
	int i;

	if (!(run->held & COSY_HELD_FOLIOS)) {
		for (i = 0; i < COSY_HOLDS; i++) {
			run->hold[i].mapping = NULL;
			run->hold[i].end = 0;
			run->hold[i].next = run->hold[i].count = 0;
		}
		run->next_hold = 0;
		run->held |= COSY_HELD_FOLIOS;
	}
	for (held = run->hold; held < run->hold + COSY_HOLDS; held++) {
		if (held->mapping == mapping)
			return held;
	}
	held = &run->hold[run->next_hold++ % COSY_HOLDS];
	empty(held);
	held->mapping = mapping;
	return held;
}

/* What the cache has from `index` on, as far as `last` and without a gap, goes to `ahead`. */
static void look_up(struct cosy_hold *held, struct address_space *mapping, pgoff_t index,
		    pgoff_t last)
{
	struct folio_batch batch;
	u32 i;

	held->next = 0;
	if (index == last) {
		held->ahead[0] = cosy_folio_get(mapping, index);
		held->count = held->ahead[0] ? 1 : 0;
		return;
	}
	folio_batch_init(&batch);
	filemap_get_folios_contig(mapping, &index, last, &batch);
	held->count = min_t(u32, folio_batch_count(&batch), ARRAY_SIZE(held->ahead));
	for (i = 0; i < held->count; i++)
		held->ahead[i] = batch.folios[i];
	for (; i < folio_batch_count(&batch); i++)
		folio_put(batch.folios[i]);
}

struct cosy_hold *cosy_hold_get(struct cosy_activation *run, struct address_space *mapping,
				loff_t pos, size_t count, enum cosy_guard *failed)
{
	struct cosy_hold *held = choose(run, mapping);
	bool onward = held->end && held->end == pos;
	pgoff_t index = pos >> PAGE_SHIFT, last = (pos + count - 1) >> PAGE_SHIFT;
	struct folio *folio;

	leave_folio(held);
	if (held->next < held->count && folio_pos(held->ahead[held->next]) != (index << PAGE_SHIFT))
		empty(held);
	if (held->next == held->count) {
		/* Who goes on where the last folio ended will go on further. */
		if (onward)
			last = index + ARRAY_SIZE(held->ahead) - 1;
		look_up(held, mapping, index, last);
	}
	if (held->next == held->count) {
		*failed = COSY_GUARD_NO_HOLES;
		return NULL;
	}
	folio = held->ahead[held->next++];
	*failed = cosy_folio_guard(folio, mapping);
	if (unlikely(*failed != COSY_GUARDS_HOLD)) {
		folio_put(folio);
		return NULL;
	}
	cosy_folio_mark_accessed(folio);
	held->folio = folio;
	held->start = folio_pos(folio);
	held->end = held->start + folio_size(folio);
	held->base = folio_address(folio);
	held->mask = folio_size(folio) - 1;
	return held;
}
