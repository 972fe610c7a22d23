/* SPDX-License-Identifier: GPL-2.0 */
/*
 * page_cache.h - files whose bytes are those of their page cache, and what has to hold
 * for a folio of it to be read.
 *
 * A specialised read looks for its guards in this order: the file (cosy_cached_file),
 * the file system (cosy_is_fresh), i_size, the folio (cosy_folios_get, cosy_folio_guard);
 * makes the checks that the call makes, which may sleep (rw_verify_area);
 * looks at the folio's mapping and at i_size again; and tells what it did
 * (cosy_read_done).  From rw_verify_area on it is seen by others: a guard that fails
 * behind it has them asked twice, so none may but by an invalidation in between.
 */
#ifndef COSY_PAGE_CACHE_H
#define COSY_PAGE_CACHE_H

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/swap.h>
#include "fast/guard.h"

/* No guard has failed. */
#define COSY_GUARDS_HOLD COSY_GUARD_CNT

/*
 * COSY_GUARD_FS_CONSTANT: a regular file of a file system that reads and writes by
 * the page cache alone.  Those stacked upon others, remote ones and FUSE are not,
 * and others have not been looked at.
 */
static inline bool cosy_cached_file(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	if (!S_ISREG(inode->i_mode) || IS_DAX(inode) || (file->f_flags & O_DIRECT) ||
	    file->f_mapping != &inode->i_data)
		return false;
	switch (inode->i_sb->s_magic) {
	case TMPFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/*
 * COSY_GUARD_FRESH: an ordinary read of that file system succeeded in this RUN, behind
 * its last safepoint, or in one before it in the jiffy in which this one began.  Where it
 * fails, the ordinary call that follows sees to it.
 */
static inline bool cosy_is_fresh(struct cosy_activation *run, const struct super_block *sb)
{
	if (likely(run->fresh[0] == sb) || run->fresh[1] == sb)
		return true;
	run->unfresh = sb;
	return false;
}

/* Where byte `position` of its file is, which `folio` has. */
static inline u8 *cosy_folio_byte(struct folio *folio, loff_t position)
{
	return (u8 *)folio_address(folio) + (position & (folio_size(folio) - 1));
}

static __always_inline unsigned long cosy_folio_flags(const struct folio *folio)
{
	return READ_ONCE(*(const unsigned long *)&folio->flags);
}

/* All of a folio's flags that matter, looked at once: is it up to date and nothing else? */
static inline bool cosy_folio_sound(const struct folio *folio)
{
	unsigned long interesting = BIT(PG_uptodate) | BIT(PG_readahead) | BIT(PG_head);

#ifdef CONFIG_MEMORY_FAILURE
	interesting |= BIT(PG_hwpoison);
#endif
	return (cosy_folio_flags(folio) & interesting) == BIT(PG_uptodate);
}

/* The guard that fails for `folio`, which must be held, or COSY_GUARDS_HOLD. */
static inline enum cosy_guard cosy_folio_guard(struct folio *folio,
					       const struct address_space *mapping)
{
	if (unlikely(READ_ONCE(folio->mapping) != mapping))
		return COSY_GUARD_NO_HOLES;
	if (likely(cosy_folio_sound(folio)))
		return COSY_GUARDS_HOLD;
	/* A hole of tmpfs, preallocated, is a folio that is not up to date. */
	if (!folio_test_uptodate(folio) || folio_test_hwpoison(folio) ||
	    (folio_test_large(folio) && folio_test_has_hwpoisoned(folio)))
		return COSY_GUARD_NO_HOLES;
	return folio_test_readahead(folio) ? COSY_GUARD_READAHEAD : COSY_GUARDS_HOLD;
}

/*
 * Folios are found under RCU.  Where its readers may be preempted that is two calls;
 * a stretch without preemption is as good.  It must not sleep, and a reference that is
 * put back may have to: that waits until the end.
 */
static __always_inline void cosy_tree_enter(void)
{
	rcu_read_lock_sched();
}

static __always_inline void cosy_tree_leave(void)
{
	rcu_read_unlock_sched();
}

/*
 * The slot of page `index` in the page cache's tree, and behind which slot its row ends:
 * in it the following pages have the following slots.  That one itself: there is none.
 */
static __always_inline void __rcu *const *cosy_tree_slot(const struct xarray *tree, pgoff_t index,
							 void __rcu *const **end)
{
	void __rcu *const *slot = &tree->xa_head;
	void *entry = rcu_dereference_raw(*slot);
	const struct xa_node *node;

	*end = slot + 1;
	if (unlikely(!xa_is_node(entry)))
		return index ? *end : slot;
	node = xa_to_node(entry);
	if (unlikely(index >> node->shift > XA_CHUNK_MASK))
		return *end;
	for (;;) {
		slot = &node->slots[(index >> node->shift) & XA_CHUNK_MASK];
		entry = rcu_dereference_raw(*slot);
		if (!xa_is_node(entry))
			break;
		node = xa_to_node(entry);
	}
	*end = &node->slots[XA_CHUNK_SIZE];
	return slot;
}

/* As folio_try_get, which enters once more. */
static __always_inline bool cosy_folio_try_get(struct folio *folio)
{
	/* What is left of a huge page's memory map must not be written to. */
	return likely(!page_is_fake_head(&folio->page)) &&
	       likely(atomic_inc_not_zero(&folio->_refcount));
}

/*
 * The folios of up to `count` pages from `index` on, a reference each, and where their
 * bytes are unless `page` is NULL.  How many: up to the first that is not there, not
 * sound, or in another row.
 */
static __always_inline u32 cosy_row_get(struct address_space *mapping, pgoff_t index, u32 count,
					struct folio **ret, u8 **page)
{
	struct folio *folio, *unsound = NULL;
	void __rcu *const *slot, *const *end;
	u32 got;

	cosy_tree_enter();
	slot = cosy_tree_slot(&mapping->i_pages, index, &end);
	for (got = 0; got < count && slot < end; got++, slot++) {
		folio = rcu_dereference_raw(*slot);
		/* Neither a value nor anything of the tree's own. */
		if (unlikely(!folio || (unsigned long)folio & 3 || !cosy_folio_try_get(folio)))
			break;
		if (unlikely(folio != rcu_access_pointer(*slot) || !cosy_folio_sound(folio))) {
			unsound = folio;
			break;
		}
		ret[got] = folio;
		if (page)
			page[got] = folio_address(folio);
	}
	cosy_tree_leave();
	if (unlikely(unsound))
		folio_put(unsound);
	return got;
}

/* A reference to the folio of page `index`, whatever it is like, or NULL. */
struct folio *cosy_folio_find(struct address_space *mapping, pgoff_t index);

static __always_inline struct folio *cosy_folio_get(struct address_space *mapping, pgoff_t index)
{
	struct folio *folio;

	if (likely(cosy_row_get(mapping, index, 1, &folio, NULL)))
		return folio;
	return cosy_folio_find(mapping, index);
}

/* cosy_folios_get from the page on that has none in its row. */
enum cosy_guard cosy_folios_get_rest(struct address_space *mapping, pgoff_t index, u32 count,
				     struct folio **ret, u8 **page, u32 *got);

/*
 * The folios of `count` pages from `index` on, one for each page, a reference each, and
 * where these pages are unless `page` is NULL.  *got are there and their guards hold; if
 * that is not all of them the next one's guard, which is returned, does not.
 */
static __always_inline enum cosy_guard cosy_folios_get(struct address_space *mapping, pgoff_t index,
						       u32 count, struct folio **ret, u8 **page,
						       u32 *got)
{
	*got = cosy_row_get(mapping, index, count, ret, page);
	if (likely(*got == count))
		return COSY_GUARDS_HOLD;
	return cosy_folios_get_rest(mapping, index, count, ret, page, got);
}

/*
 * folio_mark_accessed, which is no more than looking where a folio is as young already
 * as it can be.
 */
static __always_inline void cosy_folio_mark_accessed(struct folio *folio)
{
#ifdef CONFIG_LRU_GEN
	const unsigned long young = BIT(PG_referenced) | BIT(PG_workingset) | LRU_REFS_MASK;
	unsigned long flags = cosy_folio_flags(folio);

	if ((flags & young) == young && flags & LRU_GEN_MASK)
		return;
#endif
	folio_mark_accessed(folio);
}

/*
 * What fdget_pos does: holds the file position against others who share the
 * description.  Returns whether cosy_position_unlock is due; `file` is held by fdget.
 */
static inline bool cosy_position_lock(struct file *file)
{
	if (likely(!(file->f_mode & FMODE_ATOMIC_POS) || file_count(file) == 1))
		return false;
	mutex_lock(&file->f_pos_lock);
	return true;
}

static inline void cosy_position_unlock(struct file *file, bool locked)
{
	if (locked)
		mutex_unlock(&file->f_pos_lock);
}

/*
 * file_accessed: the access time, unless it is recent enough, which most reads find.
 */
void cosy_file_accessed(struct file *file);

/*
 * A read of `count` bytes (may be 0) up to `end` is done: accounting, access time,
 * notification, and the position that readahead goes by.
 */
void cosy_read_done(struct file *file, loff_t end, size_t count);

#endif /* COSY_PAGE_CACHE_H */
