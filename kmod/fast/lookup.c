// SPDX-License-Identifier: GPL-2.0
/*
 * lookup.c - names of several components, and the end of the state that lookup.h keeps.
 */
#include <linux/err.h>
#include <linux/fs_struct.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/string.h>
#include "fast/lookup.h"
#include "fast/page_cache.h"
#include "fast/permission.h"
#include "fast/prefix.h"
#include "fast/symlink.h"

/* Returns where the last slash is in `length` bytes of `path`; `length` if there is none. */
static u32 last_slash(const u8 *path, u32 length)
{
	u32 i = length;
	u64 hits;

	for (; i >= COSY_WORD; i -= COSY_WORD) {
		hits = cosy_zeroes_exactly(load_unaligned_zeropad(path + i - COSY_WORD) ^
					   '/' * COSY_ONES);
		if (hits)
			return i - COSY_WORD + __fls(hits) / BITS_PER_BYTE;
	}
	while (i)
		if (path[--i] == '/')
			return i;
	return length;
}

/* Keeps the process's root, unless it is kept already. */
static void root_keep(struct cosy_activation *run)
{
	struct fs_struct *fs = current->fs;
	unsigned int seq;
	bool kept;

	if (run->held & COSY_HELD_ROOT) {
		do {
			seq = cosy_fs_read_begin(fs);
			kept = path_equal(&fs->root, &run->names.root);
		} while (cosy_fs_read_retry(fs, seq));
		if (likely(kept))
			return;
		cosy_root_drop(run);
	}
	get_fs_root(fs, &run->names.root);
	run->held |= COSY_HELD_ROOT;
}

s64 cosy_path_enter(struct cosy_activation *run, u64 address, u8 *copy, long length,
		    struct cosy_found *found, struct qstr *ret)
{
	const struct path *base = found->dir;
	bool absolute;
	u32 slash;

	if (!length)
		length = strncpy_from_user(copy, u64_to_user_ptr(address), NAME_MAX + 1);
	if (unlikely(length < 0))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	if (unlikely(length > NAME_MAX))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	absolute = *copy == '/';
	/* The caller and each component ask for the permission to search that this one asks for. */
	if (length > 2 && copy[0] == '.' && copy[1] == '/') {
		copy += 2;
		length -= 2;
	}
	slash = last_slash(copy, length);
	if (slash == length) {
		ret->name = copy;
		ret->len = length;
		return cosy_is_component(ret) ? 0 : cosy_guard_failed(run, COSY_GUARD_NAME);
	}
	ret->name = copy + slash + 1;
	ret->len = length - slash - 1;
	if (unlikely(!found->more || !found->stays || slash >= COSY_PREFIX_TEXT ||
		     !cosy_is_component(ret)))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	found->dir = &run->names.prefix_dir;
	if (!absolute)
		return cosy_prefix_enter(run, base, copy, slash);
	root_keep(run);
	if (slash)
		return cosy_prefix_enter(run, &run->names.root, copy + 1, slash - 1);
	run->names.prefix_dir = run->names.root;
	return 0;
}

/* --- Where names begin ---------------------------------------------------------------------- */

void cosy_pwd_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_PWD))
		return;
	/*
	 * Entries that are kept may be of this mount without a reference to it, so they go first.
	 * The file system may go with it, so its agreement (COSY_HELD_AGREED), which is known by
	 * the super block's address, goes as well.
	 */
	cosy_child_drop(run);
	cosy_prefix_drop(run);
	run->held &= ~(COSY_HELD_PWD | COSY_HELD_AGREED);
	path_put(&run->names.pwd);
}

void cosy_root_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_ROOT))
		return;
	cosy_child_drop(run);
	cosy_prefix_drop(run);
	run->held &= ~(COSY_HELD_ROOT | COSY_HELD_AGREED);
	path_put(&run->names.root);
}

/* --- Names that are not there ------------------------------------------------------------- */

s64 cosy_missing_again(struct cosy_activation *run, const struct cosy_found *found,
		       struct qstr *name, u8 *copy, bool follow, struct dentry **ret)
{
	s64 result = -ENOENT;

	if (name->name < copy || name->name > copy + NAME_MAX) {
		memcpy(copy, name->name, name->len);
		copy[name->len] = 0;
		name->name = copy;
		if (cosy_component_length(copy, name->len + 1) != name->len ||
		    !cosy_is_component(name))
			return cosy_guard_failed(run, COSY_GUARD_NAME);
		result = cosy_child_get(run, found->dir->dentry, name, follow, false, ret);
	}
	if (result == -ENOENT && found->dir == &run->names.prefix_dir && !cosy_prefix_holds(run))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	return result;
}

/* --- Mounts and links at the end ------------------------------------------------------------ */

/*
 * Returns whether the root of a file system has its attributes at hand.  One that asks a daemon or a
 * server for them would let this call sleep with what is kept held.
 */
static bool root_is_at_hand(const struct super_block *sb)
{
	return cosy_cached_sb(sb) || sb->s_magic == PROC_SUPER_MAGIC || sb->s_magic == SYSFS_MAGIC;
}

/* Goes to the file system that is mounted on the entry. */
static s64 find_on_mount(struct cosy_activation *run, struct cosy_found *found)
{
	struct dentry *on = found->path.dentry;
	struct vfsmount *mount;

	if (READ_ONCE(on->d_flags) & (COSY_PREFIX_CARE | DCACHE_OP_REVALIDATE))
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	mount = cosy_mount_on(found->path.mnt, on);
	/* In this name space nothing is mounted there. */
	if (IS_ERR_OR_NULL(mount))
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	if (!root_is_at_hand(mount->mnt_sb) ||
	    (READ_ONCE(mount->mnt_root->d_flags) &
	     (COSY_PREFIX_CARE | DCACHE_OP_WEAK_REVALIDATE)) ||
	    d_is_symlink(mount->mnt_root)) {
		mntput(mount);
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	}
	found->path.mnt = found->mount = mount;
	found->path.dentry = dget(mount->mnt_root);
	/* Nothing of this mount is kept after the call. */
	found->more = false;
	dput(on);
	return 0;
}

/* Goes to the neighbour that the link leads to. */
static s64 find_by_link(struct cosy_activation *run, struct cosy_found *found)
{
	struct dentry *link = found->path.dentry, *target;
	struct qstr name;
	s64 result;

	/* An open takes its descriptor before it follows a link. */
	if (run->names.opens || !cosy_symlink_is_served(found->dir, link, &name))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	/* Following it can be seen, so look first whether the target is served. */
	result = cosy_child_get(run, found->dir->dentry, &name, true, false, &target);
	if (result)
		return result == -ENOENT ? cosy_guard_failed(run, COSY_GUARD_CACHED) : result;
	dput(target);
	result = cosy_symlink_follow(found->dir, link);
	if (!result)
		result = cosy_may_search(found->dir);
	if (result)
		return result;
	result = cosy_child_get(run, found->dir->dentry, &name, true, false, &found->path.dentry);
	/* The way here may have changed as well, and the walk reports it. */
	if (result == -ENOENT)
		return cosy_guard_failed(run, COSY_GUARD_CACHED);
	if (!result)
		dput(link);
	return result;
}

s64 cosy_find_further(struct cosy_activation *run, struct cosy_found *found, enum cosy_guard failed)
{
	struct dentry *entry = found->path.dentry;
	s64 result;

	if (failed == COSY_GUARD_NAME)
		result = find_by_link(run, found);
	else
		result = find_on_mount(run, found);
	if (unlikely(result))
		dput(entry);
	return result;
}
