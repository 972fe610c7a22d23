// SPDX-License-Identifier: GPL-2.0
/*
 * tmpfs_write.c - bytes of the shared buffer into pages of tmpfs that are there.
 *
 * This is what vfs_write, generic_file_write_iter and shmem_write_begin come to when every page
 * exists and the file does not grow.  Bytes that come from the very place they go to, by way of a
 * view, need no copy.
 */
#include <linux/fs.h>
#include <linux/iversion.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/timekeeping.h>
#include "compat/compat.h"
#include "fast/page_cache.h"
#include "memory/copy.h"
#include "memory/memory.h"
#include "view/write.h"

/*
 * Seals that forbid writing.  There may be another: tmpfs files are sealed against sealing from
 * the start.
 */
#define SEALED (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)

/* Most pages of a write, which need not begin at a page's start. */
#define MAX_PAGES (COSY_VIEW_PAGES + 1)

struct folios {
	u32 count;
	struct folio *folio[MAX_PAGES]; /* of each page, a reference each */
};

/*
 * Tells whether the ordinary call would let the write through.  Limits, seals, synchronous writes
 * and growing are left to it.  Holds until the inode is unlocked.
 */
static __always_inline bool tmpfs_write_allowed(const struct cosy_writing *write)
{
	const struct file *file = write->file;
	struct inode *inode = file_inode(file);

	return !(file->f_flags & (O_APPEND | __O_SYNC | O_DSYNC)) &&
	       (file->f_flags & O_LARGEFILE) && !IS_SYNC(inode) && !IS_SWAPFILE(inode) &&
	       !(READ_ONCE(SHMEM_I(inode)->seals) & SEALED) &&
	       rlimit(RLIMIT_FSIZE) == RLIM_INFINITY &&
	       write->position + write->count <= i_size_read(inode);
}

static __always_inline void tmpfs_put_folios(struct folios *folios)
{
	while (folios->count)
		folio_put(folios->folio[--folios->count]);
}

/* Finds the folios of all pages; false: none is held. */
static __always_inline bool tmpfs_find_folios(const struct cosy_writing *write, struct folios *ret)
{
	u32 count = DIV_ROUND_UP(offset_in_page(write->position) + write->count, PAGE_SIZE);

	if (likely(cosy_folios_get(write->file->f_mapping, write->position >> PAGE_SHIFT, count,
				   ret->folio, NULL, &ret->count) == COSY_GUARDS_HOLD))
		return true;
	tmpfs_put_folios(ret);
	return false;
}

/*
 * Tells whether the folios are sound and will stay.  Truncation waits for the inode.  Reclaim,
 * migration and merging into larger folios give up at our references, unless they began before,
 * and then they hold the folio's lock.
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

/*
 * The source of a write: `address` in the shared buffer, and the place of as much from there on as
 * is known.
 */
struct source {
	u64 address;
	struct cosy_place place;
};

/* Copies the next `size` bytes, wherever they are. */
static __always_inline void tmpfs_copy_from(struct cosy_activation *run, struct source *from,
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
	struct source from = { .address = address };
	loff_t position = write->position;
	u32 i, now, left = write->count;

	for (i = 0; i < folios->count; i++) {
		struct folio *folio = folios->folio[i];

		now = min_t(u32, PAGE_SIZE - offset_in_page(position), left);
		if (unlikely(!folio_trylock(folio)))
			folio_lock(folio);
		cosy_folio_mark_accessed(folio);
		tmpfs_copy_from(run, &from, cosy_folio_byte(folio, position), now);
		if (!folio_test_dirty(folio))
			folio_mark_dirty(folio);
		folio_unlock(folio);
		position += now;
		left -= now;
	}
}

/*
 * Does file_update_time, which has nothing to do where the times are this tick's already and
 * nobody has asked for the version: as in most writes but a tick's first.
 */
static __always_inline int tmpfs_update_time(struct file *file)
{
	const struct inode *inode = file_inode(file);
	struct timespec64 now, modified = inode_get_mtime(inode), changed = inode_get_ctime(inode);

	ktime_get_coarse_real_ts64(&now);
	if (likely(cosy_times_are_coarse(inode) && timespec64_equal(&modified, &now) &&
		   timespec64_equal(&changed, &now) &&
		   !(IS_I_VERSION(inode) && inode_iversion_need_inc((struct inode *)inode))))
		return 0;
	return file_update_time(file);
}

/* Writes with the inode locked; called under freeze protection. */
static __always_inline s64 tmpfs_write_locked(struct cosy_activation *run,
					      const struct cosy_writing *write,
					      const struct folios *folios, u64 address)
{
	struct file *file = write->file;
	struct inode *inode = file_inode(file);
	s64 result = COSY_ORDINARY;

	inode_lock(inode);
	/* Nothing below can fail but by an error that the call would return, too. */
	if (unlikely(!tmpfs_write_allowed(write) || !tmpfs_folios_stay(write, folios) ||
		     fatal_signal_pending(current)))
		goto out;
	result = IS_NOSEC(inode) ? 0 : file_remove_privs(file);
	if (likely(!result))
		result = tmpfs_update_time(file);
	if (likely(!result)) {
		tmpfs_write_folios(run, write, folios, address);
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
	struct folios folios __cosy_uninitialized;
	s64 result;

	if (!IS_ENABLED(CONFIG_SHMEM) || file_inode(file)->i_sb->s_magic != TMPFS_MAGIC)
		return COSY_ORDINARY;
	if (unlikely(position < 0 || position + write->count > i_size_read(file_inode(file))))
		return cosy_guard_failed(run, COSY_GUARD_READ_ONLY);
	if (unlikely(!tmpfs_find_folios(write, &folios)))
		return cosy_guard_failed(run, COSY_GUARD_NO_HOLES);
	result = rw_verify_area(WRITE, file, &position, write->count);
	if (unlikely(result)) {
		tmpfs_put_folios(&folios);
		return cosy_call_result(run, result);
	}
	/* A frozen file system may stay so for long: only the ordinary call waits. */
	result = COSY_ORDINARY;
	if (likely(file_start_write_trylock(file))) {
		result = tmpfs_write_locked(run, write, &folios, address);
		if (likely(result != COSY_ORDINARY))
			cosy_write_done(file, result);
		file_end_write(file);
	}
	tmpfs_put_folios(&folios);
	if (likely(result > 0))
		*write->end = position + result;
	return likely(result != COSY_ORDINARY) ? result
					       : cosy_guard_failed(run, COSY_GUARD_LIMITED);
}
