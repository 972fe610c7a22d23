// SPDX-License-Identifier: GPL-2.0
/*
 * page_cache.c - the work of a cached read besides copying (access time, notification, accounting),
 * and the slow path of finding folios.
 */
#include <linux/fsnotify.h>
#include <linux/mount.h>
#include <linux/sched/xacct.h>
#include "compat/compat.h"
#include "fast/access_time.h"
#include "fast/page_cache.h"

/*
 * Asks before all else what touch_atime asks last: where no update is due, it does not matter who
 * might forbid one.
 */
static __always_inline bool access_is_recent(struct inode *inode, const struct vfsmount *mount)
{
	struct timespec64 now, accessed;

	if (likely((mount->mnt_flags & MNT_RELATIME) && cosy_relatime_keeps(inode, COSY_RELATIME)))
		return true;
	accessed = data_race(inode_get_atime(inode));
	now = cosy_change_time(inode);
	return timespec64_equal(&accessed, &now);
}

static __always_inline void access_note(struct file *file)
{
	if (!access_is_recent(file_inode(file), file->f_path.mnt))
		file_accessed(file);
}

void cosy_file_accessed(struct file *file)
{
	access_note(file);
}

void cosy_read_done(struct file *file, loff_t end, size_t count)
{
	access_note(file);
	if (count) {
		WRITE_ONCE(file->f_ra.prev_pos, end);
		fsnotify_access(file);
		add_rchar(current, count);
	}
	inc_syscr(current);
}

struct folio *cosy_folio_find(struct address_space *mapping, pgoff_t index)
{
	struct folio *folio = filemap_get_folio(mapping, index);

	/* Linux before 6.3 returns NULL. */
	return IS_ERR_OR_NULL(folio) ? NULL : folio;
}

/* Does cosy_folios_get for one folio, which may have several of the pages. */
static enum cosy_guard page_cache_get_folio(struct address_space *mapping, pgoff_t index, u32 count,
					    struct folio **ret, u8 **page, u32 *got)
{
	struct folio *folio = cosy_folio_find(mapping, index);
	enum cosy_guard guard;
	pgoff_t end;

	if (!folio)
		return COSY_GUARD_NO_HOLES;
	guard = cosy_folio_guard(folio, mapping);
	if (guard != COSY_GUARDS_HOLD) {
		folio_put(folio);
		return guard;
	}
	end = min(index + count, folio->index + folio_nr_pages(folio));
	folio_ref_add(folio, end - index - 1);
	for (; index < end; index++) {
		ret[*got] = folio;
		if (page)
			page[*got] = cosy_folio_byte(folio, (loff_t)index << PAGE_SHIFT);
		++*got;
	}
	return COSY_GUARDS_HOLD;
}

enum cosy_guard cosy_folios_get_rest(struct address_space *mapping, pgoff_t index, u32 count,
				     struct folio **ret, u8 **page, u32 *got)
{
	enum cosy_guard guard;

	while (*got < count) {
		guard = page_cache_get_folio(mapping, index + *got, count - *got, ret, page, got);
		if (guard != COSY_GUARDS_HOLD)
			return guard;
		*got += cosy_row_get(mapping, index + *got, count - *got, ret + *got,
				     page ? page + *got : NULL);
	}
	return COSY_GUARDS_HOLD;
}
