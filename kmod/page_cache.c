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

/* As many of `count` as lie beside each other from `slot` up to `end`, and are small. */
static __always_inline u32 get_row(void __rcu *const *slot, void __rcu *const *end, u32 count,
				   struct folio **ret)
{
	struct folio *folio;
	u32 got;

	for (got = 0; got < count && slot < end; got++, slot++) {
		folio = rcu_dereference_raw(*slot);
		/* Neither a value nor anything of the tree's own. */
		if (unlikely(!folio || (unsigned long)folio & 3 || !folio_try_get(folio)))
			break;
		if (unlikely(folio != rcu_access_pointer(*slot) || folio_test_large(folio))) {
			folio_put(folio);
			break;
		}
		ret[got] = folio;
	}
	return got;
}

u32 cosy_folios_get_many(struct address_space *mapping, pgoff_t index, u32 count,
			 struct folio **ret)
{
	const struct xarray *tree = &mapping->i_pages;
	const struct xa_node *leaf = NULL;
	struct folio *folio;
	u32 row, got = 0;
	void *entry;

	rcu_read_lock();
	while (got < count) {
		entry = cosy_tree_load(tree, index, &leaf);
		folio = cosy_entry_get(tree, leaf, index, entry);
		if (unlikely(!folio))
			break;
		ret[got++] = folio;
		index++;
		if (likely(leaf && !leaf->shift && index & XA_CHUNK_MASK && !folio_test_large(folio))) {
			row = get_row(leaf->slots + (index & XA_CHUNK_MASK),
				      leaf->slots + XA_CHUNK_SIZE, count - got, ret + got);
			got += row;
			index += row;
			continue;
		}
		/* Within a large one the tree is not looked at again. */
		for (; unlikely(folio_test_large(folio)) && got < count; index++) {
			if (index >= folio->index + folio_nr_pages(folio))
				break;
			folio_get(folio);
			ret[got++] = folio;
		}
	}
	rcu_read_unlock();
	return got;
}
