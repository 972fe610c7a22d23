/* SPDX-License-Identifier: GPL-2.0 */
/*
 * page_cache.h - files whose bytes are those of their page cache, and the conditions for reading a
 * folio.
 *
 * A view's read checks its guards in this order: the file (cosy_cached_file), the file system
 * (cosy_fresh_check), i_size, the folios (cosy_folios_get).  It then makes the call's own checks,
 * which may sleep (rw_verify_area), checks the folios' mapping and i_size again, and reports the
 * read (cosy_read_done).  After rw_verify_area others see the read, and an ordinary call would ask
 * them a second time.  So no guard may fail there, except by an invalidation in between.  In read.c
 * the file system makes the rest of such a call instead.
 */
#ifndef COSY_PAGE_CACHE_H
#define COSY_PAGE_CACHE_H

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/swap.h>
#include "compat/compat.h"
#include "fast/guard.h"

/*
 * Tells whether a file system reads and writes by the page cache alone.  Stacked and remote ones and
 * FUSE do not, and others have not been looked at.
 */
static inline bool cosy_cached_sb(const struct super_block *sb)
{
	switch (sb->s_magic) {
	case TMPFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/* Checks COSY_GUARD_FS_CONSTANT: a regular file of such a file system. */
static inline bool cosy_cached_inode(const struct inode *inode)
{
	return S_ISREG(READ_ONCE(inode->i_mode)) && !IS_DAX(inode) && cosy_cached_sb(inode->i_sb);
}

/* Checks the same for an open file. */
static inline bool cosy_cached_file(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return !(file->f_flags & O_DIRECT) && file->f_mapping == &inode->i_data &&
	       cosy_cached_inode(inode);
}

/* Returns the address of byte `position` of the file, which `folio` has. */
static inline u8 *cosy_folio_byte(struct folio *folio, loff_t position)
{
	return (u8 *)folio_address(folio) + (position & (folio_size(folio) - 1));
}

static __always_inline unsigned long cosy_folio_flags(const struct folio *folio)
{
	return READ_ONCE(*(const unsigned long *)&folio->flags);
}

/* Looks at all of a folio's flags that matter at once: it is up to date and nothing else. */
static inline bool cosy_folio_sound(const struct folio *folio)
{
	const unsigned long interesting =
		BIT(PG_uptodate) | BIT(PG_readahead) | BIT(PG_head) | __PG_HWPOISON;

	return (cosy_folio_flags(folio) & interesting) == BIT(PG_uptodate);
}

/* Returns the guard that fails for `folio`, which must be held, or COSY_GUARDS_HOLD. */
static inline enum cosy_guard cosy_folio_guard(struct folio *folio,
					       const struct address_space *mapping)
{
	if (unlikely(READ_ONCE(folio->mapping) != mapping))
		return COSY_GUARD_NO_HOLES;
	if (likely(cosy_folio_sound(folio)))
		return COSY_GUARDS_HOLD;
	/* A preallocated hole of tmpfs is a folio that is not up to date. */
	if (!folio_test_uptodate(folio) || folio_test_hwpoison(folio) ||
	    (folio_test_large(folio) && folio_test_has_hwpoisoned(folio)))
		return COSY_GUARD_NO_HOLES;
	return folio_test_readahead(folio) ? COSY_GUARD_READAHEAD : COSY_GUARDS_HOLD;
}

/*
 * Begins a stretch in which folios can be found, under RCU.  Where RCU's readers may be preempted
 * that is two calls; a stretch without preemption is as good.  Nothing in it may sleep.  A
 * reference that is dropped may have to, so that waits until the end.
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
 * Returns the slot of page `index` in the page cache's tree, and in `*end` where its row ends:
 * within the row the next pages have the next slots.  `*end` itself: there is no slot.
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

/* Does folio_try_get, without entering RCU once more. */
static __always_inline bool cosy_folio_try_get(struct folio *folio)
{
	/* A fake head is the rest of a huge page's memory map, which must not be written to. */
	return likely(!cosy_page_is_fake_head(&folio->page)) &&
	       likely(atomic_inc_not_zero(&folio->_refcount));
}

/*
 * Gets the folios of up to `count` pages from `index` on, a reference each, and the addresses of
 * their bytes unless `page` is NULL.  Returns how many: up to the first that is not there, not
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
		/* A folio is neither a value nor anything of the tree's own. */
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

/* Returns a reference to the folio of page `index`, whatever it is like, or NULL. */
struct folio *cosy_folio_find(struct address_space *mapping, pgoff_t index);

static __always_inline struct folio *cosy_folio_get(struct address_space *mapping, pgoff_t index)
{
	struct folio *folio;

	if (likely(cosy_row_get(mapping, index, 1, &folio, NULL)))
		return folio;
	return cosy_folio_find(mapping, index);
}

/* Slow path of cosy_folios_get: goes on with the page that has no sound folio in its row. */
enum cosy_guard cosy_folios_get_rest(struct address_space *mapping, pgoff_t index, u32 count,
				     struct folio **ret, u8 **page, u32 *got);

/*
 * Gets the folios of `count` pages from `index` on, one for each page, a reference each, and the
 * addresses of these pages unless `page` is NULL.  Afterwards `*got` of them are there and their
 * guards hold.  If these are not all, returns the guard that failed for the next one.
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
 * Does folio_mark_accessed, which is no more than a look where a folio is as young already as it
 * can be.
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
 * Locks the file position, as fdget_pos does, against others who share the description.  Returns
 * whether cosy_position_unlock is due; `file` is held by fdget.
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

/* Does file_accessed: sets the access time, unless it is recent enough, as in most reads. */
void cosy_file_accessed(struct file *file);

/*
 * Tells of a read of `count` bytes (may be 0) up to `end` that is done: accounting, access time,
 * notification, and the position that readahead goes by.
 */
void cosy_read_done(struct file *file, loff_t end, size_t count);

#endif /* COSY_PAGE_CACHE_H */
