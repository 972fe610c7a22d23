// SPDX-License-Identifier: GPL-2.0
/*
 * ext4_write.c - pages of ext4 whose blocks are known already: see write.h.
 *
 * Delayed allocation is what costs in ext4's write below the end of a file.  A buffer that is
 * mapped needs none: ext4_da_write_begin leaves it alone, and ext4_da_write_end comes to
 * mark_buffer_dirty.  That is done here, for files whose operations are these two.  Files
 * with data in the journal or direct access have others, files with inline data no mapped
 * buffers; they are left to ext4.  COSY_GUARD_FRESH tells that the file system is not shut down.
 */
#include <linux/backing-dev.h>
#include <linux/buffer_head.h>
#include <linux/module.h>
#include <linux/page_idle.h>
#include <linux/pagemap.h>
#include <linux/writeback.h>
#include "compat/compat.h"
#include "run/dispatch.h"
#include "view/write.h"

/* --- Files of ext4 with delayed allocation ------------------------------------------------ */

/* NULL while no ext4 is there.  Compared, not called: no inode has it when ext4 is unloaded. */
static const struct address_space_operations *ext4_delayed;

static void ext4_find(void)
{
	WRITE_ONCE(ext4_delayed, cosy_unexported_data("ext4_da_aops"));
}

static int ext4_module_event(struct notifier_block *self, unsigned long state, void *data)
{
	const struct module *module = data;

	if (strcmp(module->name, "ext4"))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_LIVE)
		ext4_find();
	else if (state == MODULE_STATE_GOING)
		WRITE_ONCE(ext4_delayed, NULL);
	return NOTIFY_DONE;
}

static struct notifier_block ext4_notifier = { .notifier_call = ext4_module_event };

int __init cosy_ext4_init(void)
{
	int error = register_module_notifier(&ext4_notifier);

	if (!error && !READ_ONCE(ext4_delayed))
		ext4_find();
	return error;
}

void cosy_ext4_exit(void)
{
	unregister_module_notifier(&ext4_notifier);
}

bool cosy_ext4_delays(const struct address_space *mapping)
{
	const struct address_space_operations *delayed = READ_ONCE(ext4_delayed);

	return delayed && mapping->a_ops == delayed;
}

/* --- Buffers ---------------------------------------------------------------------------- */

/* Tells whether each buffer with some of bytes [begin, end) of a locked folio is mapped and sound. */
static bool ext4_buffers_known(struct folio *folio, size_t begin, size_t end)
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

/* Makes each buffer with some of bytes [begin, end) dirty, and with it the folio. */
static void ext4_buffers_dirty(struct folio *folio, size_t begin, size_t end)
{
	struct buffer_head *head = folio_buffers(folio), *buffer = head;
	size_t offset = 0;

	do {
		if (offset < end && offset + buffer->b_size > begin)
			mark_buffer_dirty(buffer);
		offset += buffer->b_size;
		buffer = buffer->b_this_page;
	} while (buffer != head);
}

/* --- The folios of a write --------------------------------------------------------------- */

bool cosy_ext4_folio_lock(struct folio *folio, const struct address_space *mapping, size_t begin,
			  size_t end)
{
	if (!folio_trylock(folio))
		return false;
	/* The end of a direct write may have taken the folio out of the page cache. */
	if (likely(folio->mapping == mapping && folio_test_uptodate(folio) &&
		   !folio_test_hwpoison(folio) && ext4_buffers_known(folio, begin, end) &&
		   !(folio_test_writeback(folio) && cosy_stable_writes(mapping))))
		return true;
	folio_unlock(folio);
	return false;
}

bool cosy_ext4_folio_written(struct folio *folio, size_t begin, size_t end)
{
	bool clean = !folio_test_dirty(folio);

	if (folio_test_idle(folio))
		folio_clear_idle(folio);
	ext4_buffers_dirty(folio, begin, end);
	folio_unlock(folio);
	return clean;
}
