/* SPDX-License-Identifier: GPL-2.0 */
/*
 * page_cache.h - files whose bytes are those of their page cache, and what has to hold
 * for a folio of it to be read.
 *
 * A specialised read looks for its guards in this order: the file (cosy_cached_file),
 * the file system (cosy_is_fresh), the folio (cosy_folio_get, cosy_folio_guard), then
 * i_size; makes the checks that the call makes, which may sleep (rw_verify_area);
 * looks at the folio's mapping and at i_size again; and tells what it did
 * (cosy_read_done).  From rw_verify_area on it is seen by others: a guard that fails
 * behind it has them asked twice, so none may but by an invalidation in between.
 */
#ifndef COSY_PAGE_CACHE_H
#define COSY_PAGE_CACHE_H

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include "fast.h"

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
 * its last tick.  Where it fails, the ordinary call that follows sees to it.
 */
static inline bool cosy_is_fresh(struct cosy_activation *run, const struct super_block *sb)
{
	if (likely(run->fresh[0] == sb) || run->fresh[1] == sb)
		return true;
	run->unfresh = sb;
	return false;
}

/* What `node` of the page cache's tree has for page `index`, as xas_descend sees it; under RCU. */
static __always_inline void *cosy_node_entry(const struct xarray *tree, const struct xa_node *node,
					     pgoff_t index)
{
	void *entry = xa_entry(tree, node, (index >> node->shift) & XA_CHUNK_MASK);

	if (unlikely(xa_is_sibling(entry))) {
		entry = xa_entry(tree, node, xa_to_sibling(entry));
		/* A large folio that has just been split. */
		if (unlikely(xa_is_node(entry)))
			entry = XA_RETRY_ENTRY;
	}
	return entry;
}

/* As xas_load, under RCU; *leaf is the node that the entry was found in, NULL: none. */
static __always_inline void *cosy_tree_load(const struct xarray *tree, pgoff_t index,
					    const struct xa_node **leaf)
{
	void *entry = xa_head(tree);

	*leaf = NULL;
	if (likely(xa_is_node(entry))) {
		if (unlikely(index >> xa_to_node(entry)->shift > XA_CHUNK_MASK))
			return NULL;
	} else if (index) {
		return NULL;
	}
	while (xa_is_node(entry)) {
		*leaf = xa_to_node(entry);
		entry = cosy_node_entry(tree, *leaf, index);
	}
	return entry;
}

/* A reference to the folio that `entry`, loaded so, is, or NULL: none, or just being moved. */
static __always_inline struct folio *cosy_entry_get(const struct xarray *tree,
						    const struct xa_node *leaf, pgoff_t index,
						    void *entry)
{
	struct folio *folio = entry;

	if (unlikely(!entry || xa_is_value(entry) || xa_is_internal(entry) || !folio_try_get(folio)))
		return NULL;
	if (likely(entry == (leaf ? cosy_node_entry(tree, leaf, index) : xa_head(tree))))
		return folio;
	folio_put(folio);
	return NULL;
}

/*
 * A reference to the folio of page `index`, or NULL: it is not in the cache, or just
 * being moved.  As filemap_get_entry, without the calls on the way to it.
 */
static __always_inline struct folio *cosy_folio_get(struct address_space *mapping, pgoff_t index)
{
	const struct xarray *tree = &mapping->i_pages;
	const struct xa_node *leaf;
	struct folio *folio;
	void *entry;

	rcu_read_lock();
	entry = cosy_tree_load(tree, index, &leaf);
	folio = cosy_entry_get(tree, leaf, index, entry);
	rcu_read_unlock();
	return folio;
}

/*
 * The folios of `count` pages from `index` on, one for each page, a reference each.
 * How many there are up to the first that is not in the cache.
 */
u32 cosy_folios_get_many(struct address_space *mapping, pgoff_t index, u32 count,
			 struct folio **ret);

static __always_inline u32 cosy_folios_get(struct address_space *mapping, pgoff_t index, u32 count,
					   struct folio **ret)
{
	if (count > 1)
		return cosy_folios_get_many(mapping, index, count, ret);
	ret[0] = cosy_folio_get(mapping, index);
	return ret[0] ? 1 : 0;
}

/* Where byte `position` of its file is, which `folio` has. */
static inline u8 *cosy_folio_byte(struct folio *folio, loff_t position)
{
	return (u8 *)folio_address(folio) + (position & (folio_size(folio) - 1));
}

/* All of a folio's flags that matter, looked at once: is it up to date and nothing else? */
static inline bool cosy_folio_sound(const struct folio *folio)
{
	unsigned long interesting = BIT(PG_uptodate) | BIT(PG_readahead) | BIT(PG_head);

#ifdef CONFIG_MEMORY_FAILURE
	interesting |= BIT(PG_hwpoison);
#endif
	return (READ_ONCE(*(const unsigned long *)&folio->flags) & interesting) == BIT(PG_uptodate);
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
