/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ext4_folio.h - folios of ext4 whose blocks are already known (ext4_write.c lists the files).
 *
 * Inline, because each folio of a write passes through these functions.
 */
#ifndef COSY_EXT4_FOLIO_H
#define COSY_EXT4_FOLIO_H

#include <linux/buffer_head.h>
#include <linux/page_idle.h>
#include <linux/pagemap.h>
#include "compat/compat.h"

/* Returns whether all buffers of bytes [begin, end) of a locked folio are mapped and valid. */
static __always_inline bool cosy_ext4_buffers_known(struct folio *folio, size_t begin, size_t end)
{
	struct buffer_head *head = folio_buffers(folio), *buffer = head;
	size_t offset = 0;

	if (!head)
		return false;
	do {
		if (offset < end && offset + buffer->b_size > begin &&
		    (!buffer_mapped(buffer) || !buffer_uptodate(buffer) || buffer_new(buffer)))
			return false;
		offset += buffer->b_size;
		buffer = buffer->b_this_page;
	} while (buffer != head);
	return true;
}

/*
 * Makes each buffer with some of bytes [begin, end) dirty, and with it the folio.  As
 * mark_buffer_dirty does, tests whether they are dirty already only after the bytes are written.
 */
static __always_inline void cosy_ext4_buffers_dirty(struct folio *folio, size_t begin, size_t end)
{
	struct buffer_head *head = folio_buffers(folio), *buffer = head;
	size_t offset = 0;

	smp_mb();
	do {
		if (offset < end && offset + buffer->b_size > begin &&
		    unlikely(!buffer_dirty(buffer)))
			mark_buffer_dirty(buffer);
		offset += buffer->b_size;
		buffer = buffer->b_this_page;
	} while (buffer != head);
}

/*
 * Locks a folio of a file that cosy_ext4_delays.  False: it is locked already, or bytes [begin,
 * end) of it cannot be changed without ext4.
 */
static __always_inline bool cosy_ext4_folio_lock(struct folio *folio,
						 const struct address_space *mapping, size_t begin,
						 size_t end)
{
	if (!folio_trylock(folio))
		return false;
	/* The end of a direct write may have taken the folio out of the page cache. */
	if (likely(folio->mapping == mapping && folio_test_uptodate(folio) &&
		   !folio_test_hwpoison(folio) && cosy_ext4_buffers_known(folio, begin, end) &&
		   !(folio_test_writeback(folio) && cosy_stable_writes(mapping))))
		return true;
	folio_unlock(folio);
	return false;
}

/*
 * Makes bytes [begin, end), which were changed, dirty, and unlocks the folio.  Returns whether
 * none was dirty before.
 */
static __always_inline bool cosy_ext4_folio_written(struct folio *folio, size_t begin, size_t end)
{
	bool clean = !folio_test_dirty(folio);

	if (folio_test_idle(folio))
		folio_clear_idle(folio);
	cosy_ext4_buffers_dirty(folio, begin, end);
	folio_unlock(folio);
	return clean;
}

#endif /* COSY_EXT4_FOLIO_H */
