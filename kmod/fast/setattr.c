// SPDX-License-Identifier: GPL-2.0
/*
 * setattr.c - chmod, fchmodat and utimensat.
 *
 * lookup.h walks the path.  Then chmod_common and vfs_utimes do all that the kernel's own calls do
 * behind the walk: they count as writers of the mount, lock the inode, ask the security module and
 * the file system, and report the change.  They are not exported.
 */
#include <linux/fs.h>
#include <linux/static_call.h>
#include <linux/time64.h>
#include "compat/compat.h"
#include "fast/fast.h"
#include "fast/folio_cursor.h"
#include "fast/lookup.h"
#include "fast/next.h"
#include "fast/page_cache.h"
#include "fast/setattr.h"
#include "kernel/symbols.h"

static int chmod_none(const struct path *path, umode_t mode)
{
	return -ENOSYS;
}

static int utimes_none(const struct path *path, struct timespec64 *times)
{
	return -ENOSYS;
}

DEFINE_STATIC_CALL(cosy_chmod_common, chmod_none);
DEFINE_STATIC_CALL(cosy_vfs_utimes, utimes_none);

static bool chmod_known __ro_after_init, utimes_known __ro_after_init;

void __init cosy_setattr_init(void)
{
	chmod_known = cosy_static_call_find(cosy_chmod_common, "chmod_common");
	utimes_known = cosy_static_call_find(cosy_vfs_utimes, "vfs_utimes");
}

/*
 * Prepares for the change of a file's attributes.  Returns whether it is made without a daemon or a
 * server, a file system that is frozen, or the holder of a lease: those are waited for with nothing
 * held.
 */
static bool setattr_begin(struct cosy_activation *run, const struct path *path)
{
	const struct inode *inode = d_backing_inode(path->dentry);

	if (unlikely(!cosy_cached_sb(inode->i_sb) || cosy_has_leases(inode) ||
		     READ_ONCE(inode->i_sb->s_writers.frozen) != SB_UNFROZEN))
		return false;
	/* The file system may wait for its disk, and pages are not held meanwhile. */
	cosy_cursors_drop(run);
	return true;
}

/* --- chmod and fchmodat ---------------------------------------------------------------------- */

static s64 chmod_path(struct cosy_activation *run, const struct path *path, void *mode)
{
	if (unlikely(!setattr_begin(run, path)))
		return cosy_guard_failed(run, COSY_GUARD_FS_CONSTANT);
	return static_call(cosy_chmod_common)(path, *(umode_t *)mode);
}

static noinline s64 chmod_named(struct cosy_activation *run, s32 dirfd, u64 name, umode_t mode)
{
	if (unlikely(!chmod_known))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	/* Programs change what they have asked for just before, or the names of a directory in turn. */
	return cosy_use_named(run, dirfd, name, true, chmod_path, &mode);
}

s64 cosy_fast_chmod(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, chmod_named(run, AT_FDCWD, r[1], r[2]));
}

s64 cosy_fast_fchmodat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, chmod_named(run, r[1], r[2], r[3]));
}

/* --- utimensat ------------------------------------------------------------------------------- */

/* The times that a call sets; none: now. */
struct new_times {
	bool given;
	struct timespec64 time[2];
};

/* Reads the times from the user's memory.  False: they are not there, or nothing is to be set. */
static bool times_read(const struct cosy_activation *run, u64 from, struct new_times *ret)
{
	struct __kernel_timespec user[2];
	int i;

	ret->given = from;
	if (!from)
		return true;
	if (!cosy_memory_read(run, user, from, sizeof(user)))
		return false;
	for (i = 0; i < 2; i++) {
		ret->time[i].tv_sec = user[i].tv_sec;
		ret->time[i].tv_nsec = user[i].tv_nsec;
	}
	return user[0].tv_nsec != UTIME_OMIT || user[1].tv_nsec != UTIME_OMIT;
}

static s64 utimes_path(struct cosy_activation *run, const struct path *path, void *with)
{
	struct new_times *times = with;

	if (unlikely(!setattr_begin(run, path)))
		return cosy_guard_failed(run, COSY_GUARD_FS_CONSTANT);
	return static_call(cosy_vfs_utimes)(path, times->given ? times->time : NULL);
}

static noinline s64 utimes_named(struct cosy_activation *run, s32 dirfd, u64 name, u64 from,
				 s32 flags)
{
	const bool follow = !(flags & AT_SYMLINK_NOFOLLOW);
	struct new_times times __cosy_uninitialized;

	/* Without a name it is about the descriptor. */
	if (unlikely(!utimes_known || !name || (flags & ~AT_SYMLINK_NOFOLLOW)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (unlikely(!times_read(run, from, &times)))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	return cosy_use_named(run, dirfd, name, follow, utimes_path, &times);
}

s64 cosy_fast_utimensat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, utimes_named(run, r[1], r[2], r[3], r[4]));
}
