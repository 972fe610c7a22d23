// SPDX-License-Identifier: GPL-2.0
/* folio_cursor.c - see folio_cursor.h. */
#include <linux/swap.h>
#include "fast/folio_cursor.h"

/*
 * Drops the current folio.  Clears base and mask too, so that a mispredicted "held" test
 * cannot read through them.
 */
static void cursor_drop_folio(struct cosy_folio_cursor *cursor)
{
	if (cursor->end)
		folio_put(cursor->folio);
	cursor->end = 0;
	cursor->base = NULL;
	cursor->mask = 0;
}

/* Drops all folios of one file. */
static void cursor_empty(struct cosy_folio_cursor *cursor)
{
	cursor_drop_folio(cursor);
	while (cursor->next < cursor->count)
		folio_put(cursor->following[cursor->next++]);
}

void cosy_cursors_drop(struct cosy_activation *run)
{
	int i;

	if (!(run->held & COSY_HELD_FOLIOS))
		return;
	for (i = 0; i < COSY_FOLIO_CURSORS; i++)
		cursor_empty(&run->cursors.cursor[i]);
	run->held &= ~COSY_HELD_FOLIOS;
}

/* Returns the file's own cursor, or takes the one that was taken longest ago. */
static struct cosy_folio_cursor *cursor_choose(struct cosy_activation *run,
					       const struct address_space *mapping)
{
	struct cosy_folio_cursor *cursor;
	int i;

	if (!(run->held & COSY_HELD_FOLIOS)) {
		for (i = 0; i < COSY_FOLIO_CURSORS; i++) {
			run->cursors.cursor[i].mapping = NULL;
			run->cursors.cursor[i].end = 0;
			run->cursors.cursor[i].next = run->cursors.cursor[i].count = 0;
		}
		run->cursors.next = 0;
		run->held |= COSY_HELD_FOLIOS;
	}
	for (cursor = run->cursors.cursor; cursor < run->cursors.cursor + COSY_FOLIO_CURSORS;
	     cursor++) {
		if (cursor->mapping == mapping)
			return cursor;
	}
	cursor = &run->cursors.cursor[run->cursors.next++ % COSY_FOLIO_CURSORS];
	cursor_empty(cursor);
	cursor->mapping = mapping;
	return cursor;
}

/*
 * Puts the folios of `count` pages from `index` on into `following`: up to the first that is not
 * there, not sound or in another row of the cache's tree, but for the first page's, whatever it is
 * like.
 */
static void cursor_look_up(struct cosy_folio_cursor *cursor, struct address_space *mapping,
			   pgoff_t index, u32 count)
{
	cursor->next = 0;
	cursor->count = cosy_row_get(mapping, index, count, cursor->following, NULL);
	if (likely(cursor->count))
		return;
	cursor->following[0] = cosy_folio_find(mapping, index);
	cursor->count = cursor->following[0] ? 1 : 0;
}

struct cosy_folio_cursor *cosy_cursor_get(struct cosy_activation *run,
					  struct address_space *mapping, loff_t pos, size_t count)
{
	struct cosy_folio_cursor *cursor = cursor_choose(run, mapping);
	bool onward = cursor->end && cursor->end == pos;
	pgoff_t index = pos >> PAGE_SHIFT;
	enum cosy_guard failed;
	struct folio *folio;
	size_t pages;

	cursor_drop_folio(cursor);
	if (cursor->next < cursor->count &&
	    folio_pos(cursor->following[cursor->next]) != (index << PAGE_SHIFT))
		cursor_empty(cursor);
	if (cursor->next == cursor->count) {
		/*
		 * A read that goes on where the last folio ended is likely to be followed by
		 * others.
		 */
		pages = DIV_ROUND_UP(offset_in_page(pos) + count, PAGE_SIZE);
		if (onward || pages > ARRAY_SIZE(cursor->following))
			pages = ARRAY_SIZE(cursor->following);
		cursor_look_up(cursor, mapping, index, pages);
	}
	if (cursor->next == cursor->count) {
		run->refused = COSY_GUARD_NO_HOLES;
		return NULL;
	}
	folio = cursor->following[cursor->next++];
	failed = cosy_folio_guard(folio, mapping);
	if (unlikely(failed != COSY_GUARDS_HOLD)) {
		run->refused = failed;
		folio_put(folio);
		return NULL;
	}
	cosy_folio_mark_accessed(folio);
	cursor->folio = folio;
	cursor->start = folio_pos(folio);
	cursor->end = cursor->start + folio_size(folio);
	cursor->base = folio_address(folio);
	cursor->mask = folio_size(folio) - 1;
	return cursor;
}
