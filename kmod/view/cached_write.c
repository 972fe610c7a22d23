// SPDX-License-Identifier: GPL-2.0
/*
 * cached_write.c - writes bytes into pages that are in the page cache.
 *
 * It has the effect of vfs_write, generic_file_write_iter and shmem_write_begin, or of ext4's
 * buffered write, when every page exists.  A file of tmpfs may grow within its last page; one of
 * ext4 must not.  Bytes of a view that are written to their own place need no copy.
 */
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/iversion.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/xacct.h>
#include <linux/shmem_fs.h>
#include <linux/timekeeping.h>
#include <linux/writeback.h>
#include "compat/compat.h"
#include "fast/fresh.h"
#include "fast/page_cache.h"
#include "memory/copy.h"
#include "memory/memory.h"
#include "run/held.h"
#include "run/ordinary.h"
#include "view/ext4_folio.h"
#include "view/write.h"

/* Seals that forbid writing.  Test no others: files of tmpfs begin with F_SEAL_SEAL. */
#define SEALED (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)

/* Maximum number of pages of a write, which need not begin at a page's start. */
#define MAX_PAGES (COSY_VIEW_PAGES + 1)

struct folios {
	u32 count;
	struct folio *folio[MAX_PAGES]; /* of each page, a reference each */
};

/* The file systems whose writes are known here. */
enum owner { OWNER_TMPFS, OWNER_EXT4, OWNER_OTHER };

static __always_inline enum owner cached_write_owner(const struct file *file)
{
	if (IS_ENABLED(CONFIG_SHMEM) && file_inode(file)->i_sb->s_magic == TMPFS_MAGIC)
		return OWNER_TMPFS;
	return cosy_ext4_delays(file->f_mapping) ? OWNER_EXT4 : OWNER_OTHER;
}

/*
 * Returns whether the file's writes are neither synchronous nor limited: those are left to the
 * call.
 */
static __always_inline bool cached_writes_are_plain(const struct file *file)
{
	return !(file->f_flags & (__O_SYNC | O_DSYNC)) && (file->f_flags & O_LARGEFILE) &&
	       !IS_SYNC(file_inode(file)) && rlimit(RLIMIT_FSIZE) == RLIM_INFINITY;
}

/*
 * Returns whether a write may let a file of tmpfs grow: from its end or below, so that no bytes
 * between are left to be zeroed.
 */
static __always_inline bool tmpfs_may_grow(const struct cosy_writing *write, struct inode *inode,
					   loff_t size)
{
	return write->position <= size &&
	       write->position + write->count <= inode->i_sb->s_maxbytes &&
	       !(READ_ONCE(SHMEM_I(inode)->seals) & F_SEAL_GROW);
}

/*
 * Returns whether the ordinary call would let the write through, to the same place.  Holds until
 * the inode is unlocked.
 */
static __always_inline bool cached_write_allowed(const struct cosy_writing *write, enum owner owner)
{
	struct inode *inode = file_inode(write->file);
	loff_t size = i_size_read(inode);
	bool grows = write->position + write->count > size;

	if (likely(owner == OWNER_TMPFS)) {
		if (READ_ONCE(SHMEM_I(inode)->seals) & SEALED ||
		    (grows && !tmpfs_may_grow(write, inode, size)))
			return false;
	} else if (grows || !cosy_ext4_delays(inode->i_mapping) || IS_IMMUTABLE(inode) ||
		   sb_rdonly(inode->i_sb)) {
		/* The file may have got data=journal, which changes under the lock. */
		return false;
	}
	return !IS_SWAPFILE(inode) && likely(!write->appends || write->position == size);
}

static __always_inline void cached_put_folios(struct folios *folios)
{
	while (folios->count)
		folio_put(folios->folio[--folios->count]);
}

/* Takes references to the folios of all pages; false: to none. */
static __always_inline bool cached_find_folios(const struct cosy_writing *write, struct folios *ret)
{
	u32 count = DIV_ROUND_UP(offset_in_page(write->position) + write->count, PAGE_SIZE);

	if (likely(cosy_folios_get(write->file->f_mapping, write->position >> PAGE_SHIFT, count,
				   ret->folio, NULL, &ret->count) == COSY_GUARDS_HOLD))
		return true;
	cached_put_folios(ret);
	return false;
}

/* Returns the folio that byte `position` goes to, and in *bytes how many from there on go to it. */
static __always_inline struct folio *cached_folio_at(const struct cosy_writing *write,
						     const struct folios *folios, loff_t position,
						     u32 *bytes)
{
	struct folio *folio =
		folios->folio[(position >> PAGE_SHIFT) - (write->position >> PAGE_SHIFT)];
	*bytes = min_t(u64, folio_size(folio) - offset_in_folio(folio, position),
		       write->position + write->count - position);
	return folio;
}

/*
 * Returns whether the folios of a file of tmpfs are sound and will stay.  Truncation waits for the
 * inode.  Reclaim, migration and merging into larger folios give up at our references, unless
 * they began before, and then they hold the folio's lock.
 */
static __always_inline bool tmpfs_folios_stay(const struct cosy_writing *write,
					      const struct folios *folios)
{
	const struct address_space *mapping = write->file->f_mapping;
	u32 i;

	for (i = 0; i < folios->count; i++) {
		struct folio *folio = folios->folio[i];

		if (unlikely(folio_test_locked(folio) ||
			     cosy_folio_guard(folio, mapping) != COSY_GUARDS_HOLD))
			return false;
	}
	return true;
}

static noinline void ext4_folios_unlock(const struct cosy_writing *write,
					const struct folios *folios, loff_t end)
{
	struct folio *folio;
	loff_t position;
	u32 bytes;

	for (position = write->position; position < end; position += bytes) {
		folio = cached_folio_at(write, folios, position, &bytes);
		folio_unlock(folio);
	}
}

/*
 * Locks all folios of a file of ext4, so that either all bytes are written or none.  In
 * ascending order, as writeback locks them, and without waiting for any.
 */
static bool ext4_folios_lock(const struct cosy_writing *write, const struct folios *folios)
{
	const loff_t end = write->position + write->count;
	struct folio *folio;
	loff_t position;
	size_t offset;
	u32 bytes;

	for (position = write->position; position < end; position += bytes) {
		folio = cached_folio_at(write, folios, position, &bytes);
		offset = offset_in_folio(folio, position);
		if (unlikely(!cosy_ext4_folio_lock(folio, write->file->f_mapping, offset,
						   offset + bytes))) {
			ext4_folios_unlock(write, folios, position);
			return false;
		}
	}
	return true;
}

/*
 * Returns whether all folios have buffers, without a lock, before anybody is asked about the write.
 * Those that came from the disk have none until ext4 has written to them.
 */
static __always_inline bool ext4_folios_known(const struct folios *folios)
{
	u32 i;

	for (i = 0; i < folios->count; i++) {
		if (unlikely(!folio_test_private(folios->folio[i])))
			return false;
	}
	return true;
}

/* The source of a write: its next `address` in the shared buffer, and the place of those bytes. */
struct source {
	u64 address;
	struct cosy_place place;
};

static __always_inline struct source cached_source(const struct cosy_writing *write, u64 address)
{
	return (struct source){ .address = address,
				.place = { .at = write->copy,
					   .above = write->copy ? write->count : 0 } };
}

/* Copies the next `size` bytes, wherever they are. */
static __always_inline void cached_copy_from(struct cosy_activation *run, struct source *from,
					     u8 *to, u32 size)
{
	struct cosy_place *place = &from->place;
	u32 now;

	while (size) {
		/* Cannot fail: the range was tested. */
		if (!place->above && WARN_ON_ONCE(!cosy_resolve(run, from->address, place)))
			return;
		now = min_t(u64, size, place->above);
		if (place->at != to)
			cosy_copy(to, place->at, now);
		place->at += now;
		place->above -= now;
		from->address += now;
		to += now;
		size -= now;
	}
}

static __always_inline void tmpfs_write_folios(struct cosy_activation *run,
					       const struct cosy_writing *write,
					       const struct folios *folios, u64 address)
{
	const loff_t end = write->position + write->count;
	struct inode *inode = file_inode(write->file);
	struct source from = cached_source(write, address);
	struct folio *folio;
	loff_t position;
	u32 bytes;

	for (position = write->position; position < end; position += bytes) {
		folio = cached_folio_at(write, folios, position, &bytes);
		if (unlikely(!folio_trylock(folio)))
			folio_lock(folio);
		cosy_folio_mark_accessed(folio);
		cached_copy_from(run, &from, cosy_folio_byte(folio, position), bytes);
		if (position + bytes > i_size_read(inode))
			i_size_write(inode, position + bytes);
		if (!folio_test_dirty(folio))
			folio_mark_dirty(folio);
		folio_unlock(folio);
	}
}

/* Returns whether a folio got dirty that was clean. */
static bool ext4_write_folios(struct cosy_activation *run, const struct cosy_writing *write,
			      const struct folios *folios, u64 address)
{
	const loff_t end = write->position + write->count;
	struct source from = cached_source(write, address);
	bool got_dirty = false;
	struct folio *folio;
	loff_t position;
	size_t offset;
	u32 bytes;

	for (position = write->position; position < end; position += bytes) {
		folio = cached_folio_at(write, folios, position, &bytes);
		offset = offset_in_folio(folio, position);
		cached_copy_from(run, &from, cosy_folio_byte(folio, position), bytes);
		got_dirty |= cosy_ext4_folio_written(folio, offset, offset + bytes);
	}
	return got_dirty;
}

/*
 * Does file_update_time, except where that has nothing to do: the times are this tick's already,
 * and nobody has asked for the version.  So it is in most writes other than a tick's first.
 */
static __always_inline int cached_update_time(struct file *file)
{
	struct inode *inode = file_inode(file);
	struct timespec64 now = cosy_change_time(inode), modified = inode_get_mtime(inode),
			  changed = inode_get_ctime(inode);

	if (likely(timespec64_equal(&modified, &now) && timespec64_equal(&changed, &now) &&
		   !(IS_I_VERSION(inode) && inode_iversion_need_inc(inode))))
		return 0;
	return file_update_time(file);
}

/* Removes privileges and updates times before a write.  0, or the error that the call returns. */
static __always_inline s64 cached_write_begin(struct file *file)
{
	s64 error = IS_NOSEC(file_inode(file)) ? 0 : file_remove_privs(file);

	return likely(!error) ? cached_update_time(file) : error;
}

/*
 * Writes to a file of tmpfs; called under freeze protection.  Once its guards hold, it fails only
 * with errors that the call would return, too.
 */
static __always_inline s64 tmpfs_write(struct cosy_activation *run,
				       const struct cosy_writing *write,
				       const struct folios *folios, u64 address)
{
	struct inode *inode = file_inode(write->file);
	s64 result = COSY_ORDINARY;

	inode_lock(inode);
	if (unlikely(!cached_write_allowed(write, OWNER_TMPFS) ||
		     !tmpfs_folios_stay(write, folios) || fatal_signal_pending(current)))
		goto out;
	result = cached_write_begin(write->file);
	if (likely(!result)) {
		tmpfs_write_folios(run, write, folios, address);
		result = write->count;
	}
out:
	inode_unlock(inode);
	return result;
}

/*
 * Does the same for ext4.  Updates the times before it locks folios, since that may wait for the
 * journal, which is not allowed with a locked folio.
 */
static s64 ext4_write(struct cosy_activation *run, const struct cosy_writing *write,
		      const struct folios *folios, u64 address)
{
	struct address_space *mapping = write->file->f_mapping;
	struct inode *inode = mapping->host;
	s64 result = COSY_ORDINARY;
	bool got_dirty = false;

	inode_lock(inode);
	if (unlikely(!cached_write_allowed(write, OWNER_EXT4) || fatal_signal_pending(current)))
		goto out;
	result = cached_write_begin(write->file);
	if (unlikely(result))
		goto out;
	result = COSY_ORDINARY;
	if (likely(ext4_folios_lock(write, folios))) {
		got_dirty = ext4_write_folios(run, write, folios, address);
		result = write->count;
	}
out:
	inode_unlock(inode);
	if (got_dirty) {
		/* A task that has dirtied much waits here until some of it is written. */
		if (run->held && current->nr_dirtied >= current->nr_dirtied_pause)
			cosy_held_drop(run);
		balance_dirty_pages_ratelimited(mapping);
	}
	return result;
}

void cosy_write_done(struct file *file, ssize_t written)
{
	if (written > 0) {
		fsnotify_modify(file);
		add_wchar(current, written);
	}
	inc_syscw(current);
}

s64 cosy_cached_write(struct cosy_activation *run, const struct cosy_writing *write, u64 address)
{
	struct file *file = write->file;
	const enum owner owner = cached_write_owner(file);
	loff_t asked = write->asked;
	struct folios folios __cosy_uninitialized;
	s64 result;

	if (owner == OWNER_OTHER)
		return COSY_ORDINARY;
	if (owner == OWNER_EXT4 &&
	    unlikely(cosy_fresh_check_to_write(&run->fresh, file_inode(file)->i_sb) !=
		     COSY_GUARDS_HOLD))
		return cosy_guard_failed(run, COSY_GUARD_FRESH);
	/* Checked here and under the lock, so that nobody is asked twice about a failing write. */
	if (unlikely(write->position < 0 || !cached_write_allowed(write, owner)))
		return cosy_guard_failed(run, COSY_GUARD_READ_ONLY);
	/* From rw_verify_area on others see the write: see page_cache.h. */
	if (unlikely(!cached_writes_are_plain(file)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (unlikely(!cached_find_folios(write, &folios)))
		return cosy_guard_failed(run, COSY_GUARD_NO_HOLES);
	if (owner == OWNER_EXT4 && unlikely(!ext4_folios_known(&folios))) {
		cached_put_folios(&folios);
		return cosy_guard_failed(run, COSY_GUARD_NO_HOLES);
	}
	result = rw_verify_area(WRITE, file, &asked, write->count);
	if (unlikely(result)) {
		cached_put_folios(&folios);
		return cosy_call_result(run, result);
	}
	/* A frozen file system may stay so for long: only the ordinary call waits. */
	result = COSY_ORDINARY;
	if (likely(file_start_write_trylock(file))) {
		result = likely(owner == OWNER_TMPFS) ? tmpfs_write(run, write, &folios, address)
						      : ext4_write(run, write, &folios, address);
		if (likely(result != COSY_ORDINARY))
			cosy_write_done(file, result);
		file_end_write(file);
	}
	cached_put_folios(&folios);
	if (likely(result > 0))
		*write->end = write->position + result;
	return likely(result != COSY_ORDINARY) ? result
					       : cosy_guard_failed(run, COSY_GUARD_LIMITED);
}
