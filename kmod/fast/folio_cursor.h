/* SPDX-License-Identifier: GPL-2.0 */
/*
 * folio_cursor.h - folios held for the next read of the same file: guard SEQUENTIAL_ACCESS.
 *
 * A held folio may have been truncated, moved or replaced.  So each use checks its guards again
 * (cosy_cursor_find, cosy_cursor_get), and then the end of file.
 */
#ifndef COSY_FOLIO_CURSOR_H
#define COSY_FOLIO_CURSOR_H

#include "fast/page_cache.h"

/*
 * Looks up byte `pos`, for which no folio is held yet; `count` bytes are wanted.  If a guard fails,
 * returns NULL and sets run->refused.
 */
struct cosy_folio_cursor *cosy_cursor_get(struct cosy_activation *run,
					  struct address_space *mapping, loff_t pos, size_t count);

/* Empties the cursors at the start of a RUN. */
static __always_inline void cosy_cursors_init(struct cosy_cursors *cursors)
{
	int i;

	for (i = 0; i < COSY_FOLIO_CURSORS; i++) {
		cursors->cursor[i].base = NULL;
		cursors->cursor[i].mask = 0;
	}
}

/* Drops all folios: part of cosy_held_drop. */
void cosy_cursors_drop(struct cosy_activation *run);

/* Returns the cursor that has byte `pos`, if its folio's guards still hold; else NULL. */
static __always_inline struct cosy_folio_cursor *cosy_cursor_find(
	struct cosy_activation *run, const struct address_space *mapping, loff_t pos)
{
	struct cosy_folio_cursor *cursor;

	if (unlikely(!(run->held & COSY_HELD_FOLIOS)))
		return NULL;
	for (cursor = run->cursors.cursor; cursor < run->cursors.cursor + COSY_FOLIO_CURSORS;
	     cursor++) {
		if (cursor->mapping == mapping && pos >= cursor->start && pos < cursor->end) {
			if (likely(cosy_folio_guard(cursor->folio, mapping) == COSY_GUARDS_HOLD))
				return cursor;
		}
	}
	return NULL;
}

/*
 * Returns the address of byte `pos`, which the cursor has.  It is masked, so that a mispredicted
 * read stays within the folio; a cursor without a folio has address 0.
 */
static __always_inline const u8 *cosy_cursor_byte(const struct cosy_folio_cursor *cursor,
						  loff_t pos)
{
	return cursor->base + (pos & cursor->mask);
}

/*
 * Returns the end of file, for guard READ_ONLY.  To be called after the folio is looked at:
 * writers put the bytes before the size.
 */
static __always_inline loff_t cosy_end_of_file(const struct address_space *mapping)
{
	smp_rmb();
	return i_size_read(mapping->host);
}

#endif /* COSY_FOLIO_CURSOR_H */
