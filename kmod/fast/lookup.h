/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lookup.h - from a name to its entry in the directory cache.
 *
 * lookup.c follows all but the last component of a name of several.  For the last, or the only
 * one, this is what the path walk does, in its order: the directory, the name from the user's
 * memory, the permission to search (with the security module's say), the directory cache, the file
 * system that is mounted there, a link to a neighbour.  All else that the walk knows is left to the
 * ordinary call: dots at the end, other links to follow, automounts, hashes and comparisons of the
 * file system's own, names that may have become stale.
 * That a name is not there is the answer where the cache is sure of it.
 *
 * The look-up, and the check whether its entry is mounted on, are two steps, as in the kernel's
 * walk: each call's result is one that it could have had there.
 *
 * In line, since these are the main path of every call that is given a name.
 */
#ifndef COSY_LOOKUP_H
#define COSY_LOOKUP_H

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/mount.h>
#include "compat/compat.h"
#include "fast/child.h"
#include "fast/guard.h"
#include "fast/name.h"
#include "fast/permission.h"

/* The entry that a name led to, until cosy_found_put. */
struct cosy_found {
	struct path path; /* of the entry; the reference to its mount is the directory's */
	struct vfsmount
		*mount; /* ... or this one, if the entry is the root of a mount; else NULL */
	const struct path *dir;
	struct fd fd;	 /* the directory's, if it was given by a descriptor */
	struct path pwd; /* ... or the current directory, if that is not kept */
	bool more;	 /* what the call finds is worth keeping: see cosy_names_follow */
	bool stays; /* the directory is open until the next cosy_held_drop, whatever others do */
};

/*
 * Drops the current directory, and the root: parts of cosy_held_drop.  They are kept from the
 * second call in a row on, by references, as they may be others at any time (pivot_root).
 */
void cosy_pwd_drop(struct cosy_activation *run);
void cosy_root_drop(struct cosy_activation *run);

/*
 * Follows all but the last component of the name at user address `address`.  The NAME_MAX + 1 bytes
 * at `copy`, which is aligned to words, have `length` bytes of it and a NUL, as cosy_name_get has
 * said; with a length of 0 it is copied there.  A name may begin with a slash.  0, with the
 * directory that they lead to in found->dir and the last component in `*ret`; an error that is the
 * call's; or COSY_ORDINARY.
 */
s64 cosy_path_enter(struct cosy_activation *run, u64 address, u8 *copy, long length,
		    struct cosy_found *found, struct qstr *ret);

/* Returns whether the directory that is kept is still the current one. */
static __always_inline bool cosy_pwd_is_kept(const struct cosy_activation *run)
{
	struct fs_struct *fs = current->fs;
	unsigned int seq;
	bool kept;

	if (!(run->held & COSY_HELD_PWD))
		return false;
	do {
		seq = cosy_fs_read_begin(fs);
		kept = path_equal(&fs->pwd, &run->names.pwd);
	} while (cosy_fs_read_retry(fs, seq));
	return kept;
}

static __always_inline void cosy_pwd_get(struct cosy_activation *run, struct cosy_found *ret)
{
	if (likely(cosy_pwd_is_kept(run))) {
		ret->stays = true;
		ret->dir = &run->names.pwd;
		return;
	}
	cosy_pwd_drop(run);
	/* Another thread may change it by chdir: the next call compares. */
	ret->stays = ret->more;
	if (ret->stays) {
		get_fs_pwd(current->fs, &run->names.pwd);
		run->held |= COSY_HELD_PWD;
		ret->dir = &run->names.pwd;
	} else {
		get_fs_pwd(current->fs, &ret->pwd);
		ret->dir = &ret->pwd;
	}
}

/* Returns whether the name that was found last had several components. */
static __always_inline bool cosy_last_was_below(const struct cosy_activation *run)
{
	return (run->held & COSY_HELD_CHILD) && run->names.child_dirfd == COSY_NO_DIRFD;
}

static __always_inline void cosy_directory_put(s32 dirfd, struct cosy_found *found)
{
	if (dirfd != AT_FDCWD)
		fdput(found->fd);
	else if (unlikely(!found->stays))
		path_put(&found->pwd);
}

/*
 * Looks once more for a name that is not there, `name` in the directory found->dir: by a copy, of
 * NAME_MAX + 1 bytes at `copy`, where the name lies in place; and at the way there, which another
 * process may have changed before the look-up.  As cosy_child_get.
 */
s64 cosy_missing_again(struct cosy_activation *run, const struct cosy_found *found,
		       struct qstr *name, u8 *copy, bool follow, struct dentry **ret);

/*
 * Goes on from found->path.dentry, for which the guard `failed`: to the file system that is mounted
 * on it, or where a link leads.  0, with that entry in its place; an error that is the call's; or
 * COSY_ORDINARY.  Unless it is 0 the reference is dropped.
 */
s64 cosy_find_further(struct cosy_activation *run, struct cosy_found *found,
		      enum cosy_guard failed);

/*
 * Finds the entry that the call's `dirfd` and the name at `address` lead to.  0 and `*ret`, an
 * error that is the call's, or COSY_ORDINARY.  `again`: several such calls about one name are
 * likely.
 */
static __always_inline s64 cosy_find(struct cosy_activation *run, s32 dirfd, u64 address,
				     bool follow, bool again, struct cosy_found *ret)
{
	u8 copy[NAME_MAX + 1] __aligned(COSY_WORD) __cosy_uninitialized;
	enum cosy_guard refused;
	struct qstr name;
	long copied;
	s64 result;

	ret->mount = NULL;
	ret->more = cosy_names_follow(run);
	cosy_names_note(run);
	if (dirfd == AT_FDCWD) {
		cosy_pwd_get(run, ret);
	} else {
		/*
		 * fdget has no descriptors that are paths alone (O_PATH); they are left to the
		 * ordinary call.
		 */
		ret->fd = fdget(dirfd);
		if (unlikely(!fd_file(ret->fd)))
			return cosy_guard_failed(run, COSY_GUARD_NAME);
		ret->dir = &fd_file(ret->fd)->f_path;
		ret->stays = cosy_fd_is_borrowed(ret->fd);
	}
	if (!cosy_name_get(run, address, cosy_last_was_below(run), copy, &copied, &name)) {
		result = cosy_path_enter(run, address, copy, copied, ret, &name);
		if (result)
			goto out;
	}
	if (unlikely(!data_race(d_can_lookup(ret->dir->dentry)))) {
		result = cosy_guard_failed(run, COSY_GUARD_NAME);
		goto out;
	}
	result = cosy_may_search(ret->dir);
	if (unlikely(result))
		goto out;
	ret->path.mnt = ret->dir->mnt;
	result = cosy_child_look_up(run, ret->dir->dentry, &name, follow, again, &ret->path.dentry,
				    &refused);
	if (unlikely(result == -ENOENT))
		result = cosy_missing_again(run, ret, &name, copy, follow, &ret->path.dentry);
	else if (unlikely(!result && refused != COSY_GUARDS_HOLD))
		result = cosy_find_further(run, ret, refused);
	if (likely(!result))
		return 0;
out:
	/* This call will be an ordinary one itself. */
	if (result == COSY_ORDINARY)
		run->names.ordinary++;
	cosy_directory_put(dirfd, ret);
	return result;
}

static __always_inline void cosy_found_put(struct cosy_activation *run, s32 dirfd,
					   struct cosy_found *found)
{
	if (found->more && found->stays) {
		cosy_child_keep(run, found->path.mnt, found->path.dentry);
		run->names.child_dirfd =
			found->dir == &run->names.prefix_dir ? COSY_NO_DIRFD : dirfd;
		run->names.child_dir = found->dir;
	} else {
		dput(found->path.dentry);
		if (unlikely(found->mount))
			mntput(found->mount);
	}
	cosy_directory_put(dirfd, found);
}

#endif /* COSY_LOOKUP_H */
