/* SPDX-License-Identifier: GPL-2.0 */
/*
 * folio_cursor.h - folios held for the next read of the same file: guard SEQUENTIAL_ACCESS.
 *
 * A folio that is held may have been truncated, moved or replaced since: whoever takes
 * bytes from it looks at its guards again each time (cosy_hold_find and _get do), and at
 * the end of file after that.
 */
#ifndef COSY_FOLIO_CURSOR_H
#define COSY_FOLIO_CURSOR_H

#include "fast/page_cache.h"

/*
 * Finds byte `pos` where nothing is held for it yet; `count` bytes are wanted.  NULL and
 * the guard that failed.
 */
struct cosy_hold *cosy_hold_get(struct cosy_activation *run, struct address_space *mapping,
				loff_t pos, size_t count, enum cosy_guard *failed);

/* The start of a RUN. */
static __always_inline void cosy_hold_init(struct cosy_activation *run)
{
	int i;

	for (i = 0; i < COSY_HOLDS; i++) {
		run->hold[i].base = NULL;
		run->hold[i].mask = 0;
	}
}

/* Lets everything go: part of cosy_settle. */
void cosy_hold_drop(struct cosy_activation *run);

/* What is held at byte `pos`, if it still holds: else NULL. */
static __always_inline struct cosy_hold *cosy_hold_find(struct cosy_activation *run,
							const struct address_space *mapping,
							loff_t pos)
{
	struct cosy_hold *held;

	if (unlikely(!(run->held & COSY_HELD_FOLIOS)))
		return NULL;
	for (held = run->hold; held < run->hold + COSY_HOLDS; held++) {
		if (held->mapping == mapping && pos >= held->start && pos < held->end) {
			if (likely(cosy_folio_guard(held->folio, mapping) == COSY_GUARDS_HOLD))
				return held;
		}
	}
	return NULL;
}

/*
 * Where byte `pos`, which is held, is.  By a mask, so that no wrong guess leaves the folio;
 * where nothing is held, a wrong guess that something is ends at address 0.
 */
static __always_inline const u8 *cosy_hold_byte(const struct cosy_hold *held, loff_t pos)
{
	return held->base + (pos & held->mask);
}

/* Guard READ_ONLY.  Looked at behind the folio: writers put the bytes before the size. */
static __always_inline loff_t cosy_end_of_file(const struct address_space *mapping)
{
	smp_rmb();
	return i_size_read(mapping->host);
}

#endif /* COSY_FOLIO_CURSOR_H */
