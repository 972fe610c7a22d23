/* SPDX-License-Identifier: GPL-2.0 */
/*
 * folio_cursor.h - folios held for the next read of the same file: guard SEQUENTIAL_ACCESS.
 *
 * A folio that is held may have been truncated, moved or replaced since: whoever takes
 * bytes from it looks at its guards again each time (cosy_cursor_find and _get do), and at
 * the end of file after that.
 */
#ifndef COSY_FOLIO_CURSOR_H
#define COSY_FOLIO_CURSOR_H

#include "fast/page_cache.h"

/*
 * Finds byte `pos` where nothing is held for it yet; `count` bytes are wanted.  NULL and
 * the guard that failed.
 */
struct cosy_folio_cursor *cosy_cursor_get(struct cosy_activation *run,
					  struct address_space *mapping, loff_t pos, size_t count,
					  enum cosy_guard *failed);

/* The start of a RUN. */
static __always_inline void cosy_cursors_init(struct cosy_activation *run)
{
	int i;

	for (i = 0; i < COSY_FOLIO_CURSORS; i++) {
		run->cursor[i].base = NULL;
		run->cursor[i].mask = 0;
	}
}

/* Lets everything go: part of cosy_held_drop. */
void cosy_cursors_drop(struct cosy_activation *run);

/* What is held at byte `pos`, if it still holds: else NULL. */
static __always_inline struct cosy_folio_cursor *cosy_cursor_find(
	struct cosy_activation *run, const struct address_space *mapping, loff_t pos)
{
	struct cosy_folio_cursor *cursor;

	if (unlikely(!(run->held & COSY_HELD_FOLIOS)))
		return NULL;
	for (cursor = run->cursor; cursor < run->cursor + COSY_FOLIO_CURSORS; cursor++) {
		if (cursor->mapping == mapping && pos >= cursor->start && pos < cursor->end) {
			if (likely(cosy_folio_guard(cursor->folio, mapping) == COSY_GUARDS_HOLD))
				return cursor;
		}
	}
	return NULL;
}

/*
 * Returns where byte `pos` is, which the cursor has.  By a mask, so that no misprediction leaves
 * the folio; where the cursor has none, one that it has ends at address 0.
 */
static __always_inline const u8 *cosy_cursor_byte(const struct cosy_folio_cursor *cursor,
						  loff_t pos)
{
	return cursor->base + (pos & cursor->mask);
}

/* Guard READ_ONLY.  Looked at after the folio: writers put the bytes before the size. */
static __always_inline loff_t cosy_end_of_file(const struct address_space *mapping)
{
	smp_rmb();
	return i_size_read(mapping->host);
}

#endif /* COSY_FOLIO_CURSOR_H */
