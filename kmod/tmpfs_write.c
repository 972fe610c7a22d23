// SPDX-License-Identifier: GPL-2.0
/*
 * tmpfs_write.c - bytes of the shared buffer into pages of tmpfs that are there.
 *
 * What vfs_write, generic_file_write_iter and shmem_write_begin come to when every page
 * exists and the file does not grow.  Bytes that come from the very place they go to,
 * by way of a view, need no copy.
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/swap.h>
#include "copy.h"
#include "memory.h"
#include "page_cache.h"
#include "write.h"

/* A write need not begin at a page's start. */
#define MOST_PAGES (COSY_VIEW_PAGES + 1)

struct pages {
	u32 count;
	struct page *page[MOST_PAGES];	/* a reference each */
};

/*
 * Only what the ordinary call would let through: limits, seals, synchronous writes and
 * growing are left to it.  Holds until the inode is unlocked if it is locked.
 */
static bool allowed(const struct cosy_writing *write)
{
	const struct file *file = write->file;
	struct inode *inode = file_inode(file);

	return !(file->f_flags & (O_APPEND | __O_SYNC | O_DSYNC)) && (file->f_flags & O_LARGEFILE) &&
	       !IS_SYNC(inode) && !IS_SWAPFILE(inode) && !READ_ONCE(SHMEM_I(inode)->seals) &&
	       rlimit(RLIMIT_FSIZE) == RLIM_INFINITY && write->position >= 0 &&
	       write->position + write->count <= i_size_read(inode);
}

static void put_pages(struct pages *pages)
{
	while (pages->count)
		put_page(pages->page[--pages->count]);
}

/* All pages, or none and the guard that failed. */
static enum cosy_guard find_pages(const struct cosy_writing *write, struct pages *ret)
{
	struct address_space *mapping = write->file->f_mapping;
	pgoff_t index = write->position >> PAGE_SHIFT;
	pgoff_t last = (write->position + write->count - 1) >> PAGE_SHIFT;

	for (ret->count = 0; index <= last; index++) {
		struct folio *folio = cosy_folio_get(mapping, index);

		if (unlikely(!folio))
			goto missing;
		ret->page[ret->count++] = folio_file_page(folio, index);
		if (unlikely(cosy_folio_guard(folio, mapping) != COSY_GUARDS_HOLD))
			goto missing;
	}
	return COSY_GUARDS_HOLD;

missing:
	put_pages(ret);
	return COSY_GUARD_NO_HOLES;
}

/*
 * Whether the pages will stay.  Truncation waits for the inode; reclaim, migration and
 * merging into larger pages give up at our references, unless they came before, and
 * then they hold the folio's lock.
 */
static bool stay(const struct cosy_writing *write, const struct pages *pages)
{
	u32 i;

	for (i = 0; i < pages->count; i++) {
		struct folio *folio = page_folio(pages->page[i]);

		if (folio_test_locked(folio) ||
		    cosy_folio_guard(folio, write->file->f_mapping) != COSY_GUARDS_HOLD)
			return false;
	}
	return true;
}

/* `size` bytes from `address` in the shared buffer on, wherever they are now. */
static void copy_from(struct cosy_activation *run, u64 address, u8 *to, u32 size)
{
	struct cosy_place place;
	u32 now;

	for (; size; size -= now) {
		/* Cannot fail: the range was tested. */
		if (WARN_ON_ONCE(!cosy_resolve(run, address, &place)))
			return;
		now = min_t(u64, size, place.behind);
		if (place.at != to)
			cosy_copy(to, place.at, now);
		address += now;
		to += now;
	}
}

static void write_page(struct cosy_activation *run, struct page *page, u32 in, u64 address, u32 size)
{
	struct folio *folio = page_folio(page);

	folio_lock(folio);
	folio_mark_accessed(folio);
	copy_from(run, address, page_address(page) + in, size);
	folio_mark_dirty(folio);
	folio_unlock(folio);
}

static void write_pages(struct cosy_activation *run, const struct cosy_writing *write,
			const struct pages *pages, u64 address)
{
	u32 i, now, in = offset_in_page(write->position), left = write->count;

	for (i = 0; i < pages->count; i++) {
		now = min_t(u32, PAGE_SIZE - in, left);
		write_page(run, pages->page[i], in, address, now);
		address += now;
		left -= now;
		in = 0;
	}
}

/* Under freeze protection. */
static s64 write_locked(struct cosy_activation *run, const struct cosy_writing *write,
			const struct pages *pages, u64 address)
{
	struct file *file = write->file;
	struct inode *inode = file_inode(file);
	s64 result = COSY_ORDINARY;

	inode_lock(inode);
	/* Nothing below can fail but by an error that the call would return, too. */
	if (unlikely(!allowed(write) || !stay(write, pages) || fatal_signal_pending(current)))
		goto out;
	result = file_remove_privs(file);
	if (likely(!result))
		result = file_update_time(file);
	if (likely(!result)) {
		write_pages(run, write, pages, address);
		result = write->count;
	}
out:
	inode_unlock(inode);
	return result;
}

s64 cosy_tmpfs_write(struct cosy_activation *run, const struct cosy_writing *write, u64 address)
{
	struct file *file = write->file;
	loff_t position = write->position;
	struct pages pages;
	enum cosy_guard guard;
	s64 result;

	if (!IS_ENABLED(CONFIG_SHMEM) || file_inode(file)->i_sb->s_magic != TMPFS_MAGIC)
		return COSY_ORDINARY;
	if (unlikely(!allowed(write)))
		return cosy_replug(run, COSY_GUARD_LIMITED);
	guard = find_pages(write, &pages);
	if (unlikely(guard != COSY_GUARDS_HOLD))
		return cosy_replug(run, guard);
	result = rw_verify_area(WRITE, file, &position, write->count);
	if (unlikely(result)) {
		result = cosy_call_result(run, result);
		goto out;
	}
	/* A frozen file system may stay so for long: only the ordinary call waits. */
	result = COSY_ORDINARY;
	if (likely(file_start_write_trylock(file))) {
		result = write_locked(run, write, &pages, address);
		if (likely(result != COSY_ORDINARY))
			cosy_write_done(file, result);
		file_end_write(file);
	}
	if (likely(result > 0))
		*write->end = position + result;
	else if (result == COSY_ORDINARY)
		cosy_replug(run, COSY_GUARD_LIMITED);
out:
	put_pages(&pages);
	return result;
}
