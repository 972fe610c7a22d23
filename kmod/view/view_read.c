// SPDX-License-Identifier: GPL-2.0
/* view_read.c - read(2) and pread(2) that leave the bytes in the page cache. */
#include <linux/file.h>
#include <linux/mm.h>
#include "compat/compat.h"
#include "fast/descriptor.h"
#include "fast/fresh.h"
#include "fast/page_cache.h"
#include "load/program.h"
#include "run/ordinary.h"
#include "view/view.h"

/* A read of a file whose guards hold. */
struct reading {
	struct file *file;
	loff_t position;
	u32 count; /* asked for; 1 up */
};

/* Returns an entry that is no view, to be filled in; NULL: there is no memory. */
static __always_inline struct cosy_page_view *view_prepare(struct cosy_activation *run)
{
	struct cosy_views *views = run->views;

	if (unlikely(!views)) {
		views = cosy_views_get(run);
		if (!views)
			return NULL;
	}
	if (unlikely(views->active == BIT(COSY_VIEWS) - 1))
		return cosy_views_write_back_oldest(run);
	return &views->view[ffz(views->active)];
}

/*
 * Ends the views of the bytes [from, to) of the shared buffer, and writes back what such views
 * have outside of these.  Returns the views that are left, a bit for each.
 */
static noinline unsigned long views_end_overlapping(struct cosy_activation *run, u32 from, u32 to)
{
	struct cosy_views *views = run->views;
	unsigned long left, active = views->active;
	struct cosy_page_view *old;
	u32 old_to;

	for (left = active; left; left &= left - 1) {
		old = &views->view[__ffs(left)];
		old_to = old->offset + old->length;
		if (old_to <= from || old->offset >= to)
			continue;
		if (old->offset < from)
			cosy_view_copy_out(run, old, 0, from - old->offset);
		if (old_to > to)
			cosy_view_copy_out(run, old, to - old->offset, old_to - to);
		cosy_view_put(old);
		active &= ~(left & -left);
	}
	return active;
}

/*
 * Makes `view`, which is filled in but for `born` and `length`, a view of `length` (1 up) bytes at
 * its offset.  Older views make way: mostly there is one, at the same place.
 */
static __always_inline void view_begin(struct cosy_activation *run, struct cosy_page_view *view,
				       u32 length)
{
	struct cosy_views *views = run->views;
	struct cosy_page_view *newest = &views->view[views->newest];
	u32 from = view->offset, to = from + length, index = view - views->view;
	unsigned long active = views->active;

	if (likely(active == BIT(views->newest) && newest->offset >= from &&
		   newest->offset + newest->length <= to)) {
		cosy_view_put(newest);
		active = 0;
	} else if (active) {
		active = views_end_overlapping(run, from, to);
	}
	view->length = length;
	view->stores = 0;
	view->born = views->born++;
	views->newest = index;
	views->active = active | BIT(index);
	run->held |= COSY_HELD_VIEWS;
}

/* Finds the folios of `count` bytes from `position` on, for `view`. */
static __always_inline enum cosy_guard view_find_pages(struct address_space *mapping,
						       loff_t position, u32 count,
						       struct cosy_page_view *view)
{
	u32 pages = DIV_ROUND_UP(offset_in_page(position) + count, PAGE_SIZE);

	return cosy_folios_get(mapping, position >> PAGE_SHIFT, pages, view->folio, view->page,
			       &view->pages);
}

/* Returns whether the folios that view_find_pages found are still the file's, and below its end. */
static __always_inline bool view_still_there(const struct address_space *mapping, loff_t end,
					     const struct cosy_page_view *view)
{
	u32 i;

	for (i = 0; i < view->pages; i++) {
		if (unlikely(READ_ONCE(view->folio[i]->mapping) != mapping))
			return false;
	}
	return i_size_read(mapping->host) >= end;
}

/* Marks folios as the page cache's own read does: not again the one where the last read ended. */
static __always_inline void view_mark_accessed(const struct reading *read,
					       const struct cosy_page_view *view)
{
	u32 i = 0;

	if (view->skew && READ_ONCE(read->file->f_ra.prev_pos) == read->position)
		i = 1;
	for (; i < view->pages; i++)
		cosy_folio_mark_accessed(view->folio[i]);
}

/*
 * Reads at the end of file, where there is nothing to hold.  Beyond the last byte that the file
 * system could have, the page cache's own read does not even set the access time.
 */
static s64 view_read_nothing(struct cosy_activation *run, const struct reading *read)
{
	int error;

	if (unlikely(read->position >= file_inode(read->file)->i_sb->s_maxbytes))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	error = rw_verify_area(READ, read->file, &read->position, read->count);
	if (unlikely(error))
		return cosy_call_result(run, error);
	cosy_read_done(read->file, read->position, 0);
	return 0;
}

/* Reads by way of a view.  Returns the bytes read, an error, or COSY_ORDINARY. */
static __always_inline s64 view_read_file(struct cosy_activation *run, const struct reading *read,
					  u32 offset)
{
	struct file *file = read->file;
	struct address_space *mapping = file->f_mapping;
	loff_t position = read->position, size = i_size_read(mapping->host);
	struct cosy_page_view *view;
	enum cosy_guard guard;
	u32 length;
	int error;

	if (unlikely(position >= size))
		return view_read_nothing(run, read);
	length = min_t(loff_t, read->count, size - position);
	view = view_prepare(run);
	if (unlikely(!view))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	guard = view_find_pages(mapping, position, length, view);
	if (unlikely(guard != COSY_GUARDS_HOLD))
		goto failed;
	error = rw_verify_area(READ, file, &position, read->count);
	if (unlikely(error)) {
		cosy_view_put(view);
		return cosy_call_result(run, error);
	}
	/* rw_verify_area may have slept, and those whom it asked may have changed the file. */
	guard = COSY_GUARD_READ_ONLY;
	if (unlikely(!view_still_there(mapping, position + length, view)))
		goto failed;

	view->offset = offset;
	view->skew = offset_in_page(position);
	view->mapping = mapping;
	view->position = position;
	view_mark_accessed(read, view);
	view_begin(run, view, length);
	cosy_read_done(file, position + length, length);
	return length;

failed:
	cosy_view_put(view);
	return cosy_guard_failed(run, guard);
}

/* Checks the guards of an open file that do not depend on the position. */
static __always_inline s64 view_check(struct cosy_activation *run, const struct file *file)
{
	if (unlikely(!(file->f_mode & FMODE_READ)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (unlikely(cosy_fresh_check(&run->fresh, file_inode(file)->i_sb) != COSY_GUARDS_HOLD))
		return cosy_guard_failed(run, COSY_GUARD_FRESH);
	/*
	 * The compound itself may store by a mapping of the file: that is no call, and comes later.
	 */
	if (unlikely(mapping_writably_mapped(file->f_mapping)))
		return cosy_guard_failed(run, COSY_GUARD_VIEW);
	return 0;
}

/* Checks that all the bytes lie in the shared buffer, and that there are any. */
static __always_inline s64 view_check_memory(struct cosy_activation *run, u64 offset, u64 count)
{
	const struct cosy_program *prog = run->prog;

	if (unlikely(!cosy_buffer_has(prog, offset, count) || READ_ONCE(*prog->gone)))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	if (unlikely(!count))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	return 0;
}

static __always_inline s64 view_check_position(struct cosy_activation *run,
					       const struct reading *read)
{
	if (unlikely(read->position < 0 ||
		     offset_in_page(read->position) + read->count > COSY_VIEW_PAGES * PAGE_SIZE))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	return 0;
}

s64 cosy_view_read(struct cosy_activation *run, u64 fd, u64 address, u64 count)
{
	u64 offset = cosy_buffer_offset(run->prog, address);
	s64 result = view_check_memory(run, offset, count);
	struct reading read __cosy_uninitialized;
	bool locked;
	struct fd f;

	if (unlikely(result))
		return result;
	f = cosy_descriptor_get(run, fd);
	if (unlikely(!fd_file(f)))
		return cosy_guard_failed(run, run->refused);
	read.file = fd_file(f);
	result = view_check(run, read.file);
	if (unlikely(result))
		goto out;
	locked = cosy_position_lock(read.file);
	read.position = read.file->f_pos;
	read.count = count;
	result = view_check_position(run, &read);
	if (likely(!result)) {
		result = view_read_file(run, &read, offset);
		if (result > 0)
			read.file->f_pos = read.position + result;
	}
	cosy_position_unlock(read.file, locked);
out:
	fdput(f);
	return result;
}

s64 cosy_view_pread(struct cosy_activation *run, u64 fd, u64 address, u64 count, u64 position)
{
	u64 offset = cosy_buffer_offset(run->prog, address);
	s64 result = view_check_memory(run, offset, count);
	struct reading read __cosy_uninitialized;
	struct fd f;

	if (unlikely(result))
		return result;
	f = cosy_descriptor_get(run, fd);
	if (unlikely(!fd_file(f)))
		return cosy_guard_failed(run, run->refused);
	read.file = fd_file(f);
	read.position = position;
	read.count = count;
	result = view_check(run, read.file);
	if (likely(!result))
		result = view_check_position(run, &read);
	if (likely(!result))
		result = view_read_file(run, &read, offset);
	fdput(f);
	return result;
}
