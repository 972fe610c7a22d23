// SPDX-License-Identifier: GPL-2.0
/* admit.c - see admit.h. */
#include <linux/blk_types.h>
#include <linux/dcache.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include "compat/compat.h"
#include "fast/access_time.h"
#include "kernel/symbols.h"
#include "watch/admit.h"
#include "watch/hooks.h"

/* How much swap there is; NULL: not known. */
static const long *swap_pages __ro_after_init;

void __init cosy_watch_admit_init(void)
{
	swap_pages = cosy_unexported_data("total_swap_pages");
}

/* Huge pages are split, and holes are filled with them, while nobody has the file open. */
static bool tmpfs_is_plain(const struct super_block *sb)
{
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	return !((const struct shmem_sb_info *)sb->s_fs_info)->huge;
#else
	return true;
#endif
}

#define MAX_PAGES 64 /* of a tmpfs file, all of which are looked at */

/*
 * Reading a mapped hole makes a clean page, which counts as a block until it is dropped: on demand
 * of the administrator, or where there is swap.  Pages that were written are dirty, and stay so.
 */
static bool pages_are_dirty(const struct inode *inode)
{
	XA_STATE(pages, &inode->i_mapping->i_pages, 0);
	const struct folio *folio;
	bool dirty = true;

	rcu_read_lock();
	/* The page of a small file is in the place of the tree. */
	folio = rcu_dereference(inode->i_mapping->i_pages.xa_head);
	if (likely(folio && !xa_is_internal(folio) && !xa_is_value(folio))) {
		dirty = folio_test_dirty((struct folio *)folio);
		rcu_read_unlock();
		return dirty;
	}
	xas_for_each(&pages, folio, ULONG_MAX)
	{
		if (xas_retry(&pages, folio))
			continue;
		dirty = !xa_is_value(folio) && folio_test_dirty((struct folio *)folio);
		if (!dirty)
			break;
	}
	rcu_read_unlock();
	return dirty;
}

/* A file without blocks has no page. */
static bool tmpfs_keeps_blocks(const struct inode *inode)
{
	u64 blocks = inode->i_blocks;

	return !blocks || (blocks <= MAX_PAGES << (PAGE_SHIFT - SECTOR_SHIFT) && swap_pages &&
			   !READ_ONCE(*swap_pages) && pages_are_dirty(inode));
}

bool cosy_watch_admits_directory(const struct dentry *dir)
{
	const struct inode *inode = d_inode(dir);

	return inode && cosy_hooks_see_directory(inode) && !IS_DEADDIR(inode) &&
	       !(inode->i_flags & (S_CASEFOLD | S_ENCRYPTED)) &&
	       !(READ_ONCE(dir->d_flags) & (DCACHE_OP_HASH | DCACHE_OP_COMPARE)) &&
	       (!cosy_hooks_see_tmpfs(inode) || tmpfs_is_plain(inode->i_sb));
}

static bool file_is_stable(const struct inode *inode)
{
	struct address_space *mapping = inode->i_mapping;

	/* Quota files are written by the kernel, and without being opened. */
	if (IS_NOQUOTA(inode) || IS_DAX(inode) || IS_VERITY(inode) || IS_ENCRYPTED(inode) ||
	    IS_SWAPFILE(inode) || atomic_read(&inode->i_writecount) > 0)
		return false;
	if (cosy_hooks_see_tmpfs(inode))
		return tmpfs_keeps_blocks(inode);
	/* Blocks are allocated when pages are written back. */
	return !mapping_tagged(mapping, PAGECACHE_TAG_DIRTY) &&
	       !mapping_tagged(mapping, PAGECACHE_TAG_WRITEBACK);
}

bool cosy_watch_is_stable(const struct inode *inode)
{
	bool stable;

	/* The change under way has the lock, and is complete when the lock is free. */
	if (rwsem_is_locked((struct rw_semaphore *)&inode->i_rwsem))
		return false;
#ifdef CONFIG_IMA
	/* A process that has it open may read it, which changes the time of access. */
	if (atomic_read(&inode->i_readcount) > 0)
		return false;
#endif
	if (S_ISREG(inode->i_mode))
		stable = cosy_hooks_see_file(inode) && file_is_stable(inode);
	else
		/* Reading a link changes its time of access; special files are written unseen. */
		stable = S_ISDIR(inode->i_mode) && cosy_hooks_see_directory(inode);
	/* What is read from here on is from after the checks. */
	smp_rmb();
	return stable;
}

/* Answers live for a second, so a minute is far enough from the kernel's next update. */
#define RECENT (COSY_RELATIME - 60)

bool cosy_watch_keeps_access_time(const struct file *dir)
{
	int flags = READ_ONCE(dir->f_path.mnt->mnt_flags);

	if (flags & (MNT_NOATIME | MNT_NODIRATIME))
		return true;
	/* Only a change whose hook has run can be under way. */
	return (flags & MNT_RELATIME) && cosy_relatime_keeps(file_inode(dir), RECENT);
}

bool cosy_watch_is_changing(struct inode *dir)
{
	bool changing = false;

	/* Names are looked up and listed under shared locks, which do not count. */
	if (inode_is_locked(dir)) {
		changing = !inode_trylock_shared(dir);
		if (!changing)
			inode_unlock_shared(dir);
	}
	smp_rmb();
	return changing;
}
