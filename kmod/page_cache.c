// SPDX-License-Identifier: GPL-2.0
/* page_cache.c - what a read does besides finding and copying bytes. */
#include <linux/fsnotify.h>
#include <linux/mount.h>
#include <linux/sched/xacct.h>
#include <linux/timekeeping.h>
#include "compat/compat.h"
#include "page_cache.h"

#define DAY (24 * 60 * 60)

/*
 * What touch_atime asks last, before all else that may forbid an update: where there is
 * none to make, it does not matter who forbids it.
 */
static bool is_recent(const struct inode *inode, const struct vfsmount *mount)
{
	struct timespec64 now, accessed = inode_get_atime(inode), modified, changed;

	if (likely(mount->mnt_flags & MNT_RELATIME)) {
		modified = inode_get_mtime(inode);
		changed = inode_get_ctime(inode);
		/* The coarse clock's seconds. */
		if (timespec64_compare(&modified, &accessed) < 0 &&
		    timespec64_compare(&changed, &accessed) < 0 &&
		    ktime_get_real_seconds() - accessed.tv_sec < DAY)
			return true;
	}
	ktime_get_coarse_real_ts64(&now);
	return timespec64_equal(&accessed, &now);
}

void cosy_file_accessed(struct file *file)
{
	if (!is_recent(file_inode(file), file->f_path.mnt))
		file_accessed(file);
}

void cosy_read_done(struct file *file, loff_t end, size_t count)
{
	cosy_file_accessed(file);
	if (count) {
		file->f_ra.prev_pos = end;
		fsnotify_access(file);
		add_rchar(current, count);
	}
	inc_syscr(current);
}

u32 cosy_folios_get(struct address_space *mapping, pgoff_t index, u32 count, struct folio **ret)
{
	XA_STATE(xas, &mapping->i_pages, index);
	struct folio *folio;
	u32 got;

	rcu_read_lock();
	folio = xas_load(&xas);
	for (got = 0; got < count; got++) {
		if (unlikely(!folio || xa_is_value(folio) || xa_is_internal(folio) ||
			     !folio_try_get(folio)))
			break;
		ret[got] = folio;
		if (unlikely(folio != xas_reload(&xas))) {
			folio_put(folio);
			break;
		}
		/* Within a large one the tree is not looked at again. */
		for (; unlikely(folio_test_large(folio)) && got + 1 < count; got++) {
			if (index + got + 1 >= folio->index + folio_nr_pages(folio))
				break;
			folio_get(folio);
			ret[got + 1] = folio;
		}
		if (got + 1 < count) {
			if (unlikely(folio_test_large(folio))) {
				xas_set(&xas, index + got + 1);
				folio = xas_load(&xas);
			} else {
				folio = xas_next(&xas);
			}
		}
	}
	rcu_read_unlock();
	return got;
}
