// SPDX-License-Identifier: GPL-2.0
/* view_read.c - read(2) and pread(2) that leave the bytes where they are. */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/swap.h>
#include "compat/compat.h"
#include "page_cache.h"
#include "program.h"
#include "view.h"

/* What there is to read, once the guards of the file hold. */
struct reading {
	struct file *file;
	loff_t position;
	u32 count;		/* asked for; 1 up */
};

/* The folios of `count` bytes from `position` on into `view`. */
static __always_inline enum cosy_guard find_pages(struct address_space *mapping, loff_t position,
						  u32 count, struct cosy_page_view *view)
{
	u32 i, pages = DIV_ROUND_UP(offset_in_page(position) + count, PAGE_SIZE);
	enum cosy_guard guard;

	view->pages = cosy_folios_get(mapping, position >> PAGE_SHIFT, pages, view->folio);
	if (unlikely(view->pages < pages))
		return COSY_GUARD_NO_HOLES;
	for (i = 0; i < pages; i++) {
		struct folio *folio = view->folio[i];

		/* A sound one is a single page. */
		if (likely(READ_ONCE(folio->mapping) == mapping && cosy_folio_sound(folio))) {
			view->page[i] = folio_address(folio);
			continue;
		}
		guard = cosy_folio_guard(folio, mapping);
		if (unlikely(guard != COSY_GUARDS_HOLD))
			return guard;
		view->page[i] = cosy_folio_byte(folio, (position & PAGE_MASK) + i * PAGE_SIZE);
	}
	return COSY_GUARDS_HOLD;
}

/* Whether what find_pages found is still there, and below the end of file. */
static __always_inline bool still_there(const struct address_space *mapping, loff_t end,
			const struct cosy_page_view *view)
{
	u32 i;

	for (i = 0; i < view->pages; i++) {
		if (unlikely(READ_ONCE(view->folio[i]->mapping) != mapping))
			return false;
	}
	return i_size_read(mapping->host) >= end;
}

/* As the page cache's own read marks them: not again where the last read ended. */
static void mark_accessed(const struct reading *read, const struct cosy_page_view *view)
{
	u32 i = 0;

	if (view->skew && read->file->f_ra.prev_pos == read->position)
		i = 1;
	for (; i < view->pages; i++)
		folio_mark_accessed(view->folio[i]);
}

/* At the end of file there is nothing to hold. */
static s64 read_nothing(struct cosy_activation *run, const struct reading *read)
{
	int error = rw_verify_area(READ, read->file, &read->position, read->count);

	if (unlikely(error))
		return cosy_call_result(run, error);
	cosy_read_done(read->file, read->position, 0);
	return 0;
}

/* The bytes read, an error that has been given, or COSY_ORDINARY. */
static __always_inline s64 read_view(struct cosy_activation *run, const struct reading *read, u32 offset)
{
	struct file *file = read->file;
	struct address_space *mapping = file->f_mapping;
	loff_t position = read->position, size = i_size_read(mapping->host);
	struct cosy_page_view *view;
	enum cosy_guard guard;
	u32 length;
	int error;

	if (unlikely(position >= size))
		return read_nothing(run, read);
	length = min_t(loff_t, read->count, size - position);
	view = cosy_view_prepare(run);
	if (unlikely(!view))
		return cosy_replug(run, COSY_GUARD_MEMORY);
	guard = find_pages(mapping, position, length, view);
	if (unlikely(guard != COSY_GUARDS_HOLD))
		goto replug;
	guard = COSY_GUARD_READ_ONLY;
	if (unlikely(i_size_read(mapping->host) < position + length))
		goto replug;
	error = rw_verify_area(READ, file, &position, read->count);
	if (unlikely(error)) {
		cosy_view_put(view);
		return cosy_call_result(run, error);
	}
	/* It may have slept, and whoever it asked may have changed the file. */
	if (unlikely(!still_there(mapping, position + length, view)))
		goto replug;

	view->offset = offset;
	view->skew = offset_in_page(position);
	view->mapping = mapping;
	view->position = position;
	mark_accessed(read, view);
	cosy_view_begin(run, view, length);
	cosy_read_done(file, position + length, length);
	return length;

replug:
	cosy_view_put(view);
	return cosy_replug(run, guard);
}

/* Of a file that is held: the guards that do not depend on the position. */
static __always_inline s64 check(struct cosy_activation *run, const struct file *file)
{
	if (unlikely(!(file->f_mode & FMODE_READ)))
		return cosy_replug(run, COSY_GUARD_LIMITED);
	if (unlikely(!cosy_cached_file(file)))
		return cosy_replug(run, COSY_GUARD_FS_CONSTANT);
	if (unlikely(!cosy_is_fresh(run, file_inode(file)->i_sb)))
		return cosy_replug(run, COSY_GUARD_FRESH);
	return 0;
}

/* The place in the shared buffer where all of it goes, and that a view can hold it. */
static __always_inline s64 check_memory(struct cosy_activation *run, u64 offset, u64 count)
{
	const struct cosy_prog *prog = run->prog;

	if (unlikely(offset >= prog->buffer_size || count > prog->buffer_size - offset ||
		     READ_ONCE(*run->gone)))
		return cosy_replug(run, COSY_GUARD_MEMORY);
	if (unlikely(!count))
		return cosy_replug(run, COSY_GUARD_LIMITED);
	return 0;
}

static __always_inline s64 check_position(struct cosy_activation *run, const struct reading *read)
{
	loff_t most = file_inode(read->file)->i_sb->s_maxbytes;

	if (unlikely(read->position < 0 || read->position > most - read->count ||
		     offset_in_page(read->position) + read->count > COSY_VIEW_PAGES * PAGE_SIZE))
		return cosy_replug(run, COSY_GUARD_LIMITED);
	return 0;
}

s64 cosy_view_read(struct cosy_activation *run, u64 fd, u64 address, u64 count)
{
	u64 offset = address - run->prog->buffer_address;
	s64 result = check_memory(run, offset, count);
	struct reading read __cosy_uninitialized;
	bool locked;
	struct fd f;

	if (unlikely(result))
		return result;
	f = fdget(fd);
	read.file = fd_file(f);
	if (unlikely(!read.file))
		return COSY_ORDINARY;
	result = check(run, read.file);
	if (unlikely(result))
		goto out;
	locked = cosy_position_lock(read.file);
	read.position = read.file->f_pos;
	read.count = count;
	result = check_position(run, &read);
	if (likely(!result)) {
		result = read_view(run, &read, offset);
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
	u64 offset = address - run->prog->buffer_address;
	s64 result = check_memory(run, offset, count);
	struct reading read __cosy_uninitialized;
	struct fd f;

	if (unlikely(result))
		return result;
	f = fdget(fd);
	read.file = fd_file(f);
	if (unlikely(!read.file))
		return COSY_ORDINARY;
	read.position = position;
	read.count = count;
	result = check(run, read.file);
	if (likely(!result))
		result = check_position(run, &read);
	if (likely(!result))
		result = read_view(run, &read, offset);
	fdput(f);
	return result;
}
