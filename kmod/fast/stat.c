// SPDX-License-Identifier: GPL-2.0
/*
 * stat.c - stat(2) and its family, by a name (lookup.h) or an open descriptor. attributes.c reads
 * the attributes.
 */
#include <linux/stat.h>
#include "fast/attributes.h"
#include "fast/fast.h"
#include "fast/lookup.h"
#include "fast/next.h"
#include "fast/permission.h"
#include "fast/stat.h"
#include "memory/reach.h"
#include "run/ordinary.h"

s64 cosy_stat_child(struct cosy_activation *run, const struct path *dir, struct qstr *name, u8 *to,
		    s32 flags)
{
	struct dentry *child;
	s64 result = cosy_child_get(run, dir->dentry, name, !(flags & AT_SYMLINK_NOFOLLOW), false,
				    &child);

	/* The name may have changed in place since it was listed: a call tells. */
	if (unlikely(result == -ENOENT))
		return cosy_guard_failed(run, COSY_GUARD_CACHED);
	if (unlikely(result))
		return result;
	cosy_child_keep(run, dir->mnt, child);
	return cosy_attributes(run, &run->names.child, flags | AT_NO_AUTOMOUNT, to, true);
}

s64 cosy_stat_under(struct cosy_activation *run, const struct path *dir, u64 address, u64 to,
		    s32 flags)
{
	u8 copy[NAME_MAX + 1] __aligned(COSY_WORD) __cosy_uninitialized;
	u8 *at = cosy_reach(run, to, COSY_STAT_SIZE);
	struct qstr name;
	long copied;
	int error;

	if (unlikely(!at))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	if (!cosy_name_get(run, address, false, copy, &copied, &name))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	error = cosy_may_search(dir);
	if (unlikely(error))
		return error;
	return cosy_stat_child(run, dir, &name, at, flags);
}

static noinline s64 stat_found(struct cosy_activation *run, s32 dirfd, u64 name, u8 *at, s32 flags)
{
	struct cosy_found found __cosy_uninitialized;
	s64 result;

	result = cosy_find(run, dirfd, name, !(flags & AT_SYMLINK_NOFOLLOW), false, &found);
	if (unlikely(result))
		return result;
	result = cosy_attributes(run, &found.path, flags | AT_NO_AUTOMOUNT, at, found.more);
	cosy_found_put(run, dirfd, &found);
	return result;
}

static __always_inline s64 stat_named(struct cosy_activation *run, s32 dirfd, u64 name, u64 to,
				      s32 flags)
{
	u8 *at = cosy_reach(run, to, COSY_STAT_SIZE);
	s64 result;

	if (unlikely(!at))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	result = cosy_find_next(run, dirfd, name, !(flags & AT_SYMLINK_NOFOLLOW), false);
	if (likely(!result))
		return cosy_attributes(run, &run->names.child, flags | AT_NO_AUTOMOUNT, at, true);
	if (result == COSY_ORDINARY)
		return stat_found(run, dirfd, name, at, flags);
	return result;
}

static noinline s64 stat_in_pwd(struct cosy_activation *run, u64 name, u64 to, s32 flags)
{
	return stat_named(run, AT_FDCWD, name, to, flags);
}

static __always_inline s64 stat_open(struct cosy_activation *run, u32 number, u64 to)
{
	u8 *at = cosy_reach(run, to, COSY_STAT_SIZE);
	struct fd fd;
	s64 result;

	if (unlikely(!at))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	fd = fdget(number);
	if (likely(fd_file(fd)))
		result = cosy_attributes(run, &fd_file(fd)->f_path, 0, at, false);
	else
		result = cosy_guard_failed(run, COSY_GUARD_NAME);
	fdput(fd);
	return result;
}

/* Returns whether a call is about the descriptor itself: AT_EMPTY_PATH alone, and an empty name. */
static bool stat_is_of_descriptor(s32 dirfd, u64 name, s32 flags)
{
	u8 first;

	return flags == AT_EMPTY_PATH && dirfd >= 0 && name &&
	       !get_user(first, (u8 __user *)name) && !first;
}

/* Serves flags that change the way: fstat, perhaps. */
static noinline s64 stat_special(struct cosy_activation *run, s32 dirfd, u64 name, u64 to,
				 s32 flags)
{
	if (stat_is_of_descriptor(dirfd, name, flags))
		return stat_open(run, dirfd, to);
	return cosy_guard_failed(run, COSY_GUARD_LIMITED);
}

static __always_inline s64 stat_at(struct cosy_activation *run, s32 dirfd, u64 name, u64 to,
				   s32 flags)
{
	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)))
		return stat_special(run, dirfd, name, to, flags);
	if (dirfd == AT_FDCWD)
		return stat_in_pwd(run, name, to, flags);
	return stat_named(run, dirfd, name, to, flags);
}

/*
 * Any file system may be asked for attributes, and signals interrupt remote ones: hence
 * cosy_call_result.
 */

s64 cosy_fast_newfstatat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, stat_at(run, r[1], r[2], r[3], r[4]));
}

s64 cosy_fast_stat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, stat_in_pwd(run, r[1], r[2], 0));
}

s64 cosy_fast_lstat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, stat_in_pwd(run, r[1], r[2], AT_SYMLINK_NOFOLLOW));
}

s64 cosy_fast_fstat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, stat_open(run, r[1], r[2]));
}

/* --- statx ------------------------------------------------------------------------------ */

/* The fields and the flags that are served; others are asked for rarely. */
#define STATX_SERVED	   (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)
#define STATX_SERVED_FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE)

static noinline s64 statx_found(struct cosy_activation *run, s32 dirfd, u64 name, s32 flags,
				u32 mask, u8 *at)
{
	struct cosy_found found __cosy_uninitialized;
	s64 result = cosy_find(run, dirfd, name, !(flags & AT_SYMLINK_NOFOLLOW), false, &found);

	if (unlikely(result))
		return result;
	result = cosy_extended_attributes(run, &found.path, flags, mask, at, found.more);
	cosy_found_put(run, dirfd, &found);
	return result;
}

static __always_inline s64 statx_named(struct cosy_activation *run, s32 dirfd, u64 name, s32 flags,
				       u32 mask, u8 *at)
{
	s64 result = cosy_find_next(run, dirfd, name, !(flags & AT_SYMLINK_NOFOLLOW), false);

	if (likely(!result))
		return cosy_extended_attributes(run, &run->names.child, flags, mask, at, true);
	if (result == COSY_ORDINARY)
		return statx_found(run, dirfd, name, flags, mask, at);
	return result;
}

static noinline s64 statx_open(struct cosy_activation *run, u32 number, u32 mask, u8 *at)
{
	struct fd fd = fdget(number);
	s64 result;

	if (likely(fd_file(fd)))
		result = cosy_extended_attributes(run, &fd_file(fd)->f_path, 0, mask, at, false);
	else
		result = cosy_guard_failed(run, COSY_GUARD_NAME);
	fdput(fd);
	return result;
}

static __always_inline s64 statx_at(struct cosy_activation *run, s32 dirfd, u64 name, s32 flags,
				    u32 mask, u64 to)
{
	u8 *at = cosy_reach(run, to, COSY_STATX_SIZE);

	if (unlikely(!at))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	if (unlikely((mask & ~STATX_SERVED) || !cosy_statx_is_known() ||
		     (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (likely(!(flags & ~STATX_SERVED_FLAGS)))
		return statx_named(run, dirfd, name, flags, mask, at);
	if (stat_is_of_descriptor(dirfd, name, flags))
		return statx_open(run, dirfd, mask, at);
	return cosy_guard_failed(run, COSY_GUARD_LIMITED);
}

s64 cosy_fast_statx(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, statx_at(run, r[1], r[2], r[3], r[4], r[5]));
}
