// SPDX-License-Identifier: GPL-2.0
/*
 * open.c - open and openat of regular files and directories that exist, and close.
 *
 * lookup.h walks the path.  From there it is what openat(2) does: it takes a descriptor, asks
 * inode_permission, and dentry_open makes the file.  That is where leases, counts of writers, the
 * security module and fanotify listeners have their say, as for any open file.
 *
 * close is the kernel's own.  Names that the RUN remembers survive it unless they depend on the
 * closed descriptor, which only a directory's can be: the next open in a loop finds its directory
 * known.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include "compat/compat.h"
#include "fast/descriptor.h"
#include "fast/fast.h"
#include "fast/folio_cursor.h"
#include "fast/lookup.h"
#include "fast/next.h"
#include "fast/open.h"
#include "fast/prefix.h"
#include "run/dispatch.h"

/*
 * Returns the result of an open whose name led nowhere, or that is denied.  The kernel takes a
 * descriptor and makes the file before it follows the name, so that their limits come first.
 * Whether the system has room for one more file is only sure if there is no limit.
 */
static noinline s64 open_refused(struct cosy_activation *run, s64 error, u32 flags)
{
	int number;

	if (get_max_files() < LONG_MAX)
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	number = get_unused_fd_flags(flags);
	if (number < 0)
		return number;
	put_unused_fd(number);
	return error;
}

/* What an open asks the permission for: build_open_flags. */
static __always_inline int open_mask(u32 flags)
{
	int mask = ACC_MODE(flags);

	return flags & O_APPEND ? mask | MAY_APPEND : mask;
}

static __always_inline bool serves_file(const struct inode *inode, u32 flags)
{
	return !(flags & O_DIRECTORY) && cosy_cached_inode(inode);
}

/* Tells whether the inode is a directory that may be opened with these flags: only to read. */
static noinline bool serves_directory(const struct inode *inode, u32 flags)
{
	return S_ISDIR(READ_ONCE(inode->i_mode)) && (flags & O_ACCMODE) == O_RDONLY &&
	       cosy_cached_sb(inode->i_sb);
}

/* Asks for the permission as may_open does for a regular file, or a directory to read. */
static __always_inline int open_permission(const struct path *path, struct inode *inode, u32 flags,
					   int mask)
{
	int error = inode_permission(cosy_mnt_idmap(path->mnt), inode, MAY_OPEN | mask);

	if (unlikely(error))
		return error;
	return unlikely(IS_APPEND(inode)) && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_APPEND)
		       ? -EPERM
		       : 0;
}

/* Makes the open file, and has all see it who see one that openat(2) makes. */
static __always_inline struct file *file_make(const struct path *path, u32 flags, int mask)
{
	struct file *file;
	int error;

	if (force_o_largefile())
		flags |= O_LARGEFILE;
	file = dentry_open(path, flags & ~O_CLOEXEC, current_cred());
	if (IS_ERR(file))
		return file;
	error = cosy_file_opened(file, mask);
	if (unlikely(error)) {
		fput(file);
		return ERR_PTR(error);
	}
	cosy_tell_opened(file);
	return file;
}

static noinline s64 path_open(struct cosy_activation *run, const struct path *path, u32 flags)
{
	struct inode *inode = d_backing_inode(path->dentry);
	/* Only files are read, so a directory is not noted. */
	const bool is_file = serves_file(inode, flags),
		   noted = is_file && cosy_descriptors_are_own();
	const int mask = open_mask(flags);
	struct file *file;
	int number, error;

	if (unlikely(!is_file && !serves_directory(inode, flags)))
		return cosy_guard_failed(run, COSY_GUARD_FS_CONSTANT);
	/* The holder of a lease is waited for, with nothing held. */
	if (unlikely(cosy_has_leases(inode)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	number = get_unused_fd_flags(flags);
	if (unlikely(number < 0))
		return number;
	error = open_permission(path, inode, flags, mask);
	if (unlikely(error)) {
		put_unused_fd(number);
		return open_refused(run, error, flags);
	}
	file = file_make(path, flags, mask);
	if (IS_ERR(file)) {
		put_unused_fd(number);
		return PTR_ERR(file);
	}
	fd_install(number, file);
	if (likely(noted))
		cosy_descriptor_note(run, number, file);
	return number;
}

static noinline s64 open_named(struct cosy_activation *run, s32 dirfd, u64 name, u32 flags)
{
	const bool follow = !(flags & O_NOFOLLOW);
	struct cosy_found found __cosy_uninitialized;
	s64 result;

	if (unlikely(!cosy_open_is_served(flags)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	result = cosy_find_near(run, dirfd, name, follow);
	if (likely(!result))
		return path_open(run, &run->names.child, flags);
	if (result == COSY_ORDINARY) {
		run->names.opens = true;
		result = cosy_find(run, dirfd, name, follow, true, &found);
		run->names.opens = false;
		if (likely(!result)) {
			result = path_open(run, &found.path, flags);
			cosy_found_put(run, dirfd, &found);
			return result;
		}
	}
	return result == COSY_ORDINARY ? result : open_refused(run, result, flags);
}

s64 cosy_fast_open(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, open_named(run, AT_FDCWD, r[1], r[2]));
}

s64 cosy_fast_openat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, open_named(run, r[1], r[2], r[3]));
}

/* --- close ----------------------------------------------------------------------------------- */

/* Tells whether the RUN has a reference to the mount that stays after this call. */
static bool mount_stays(const struct cosy_activation *run, const struct vfsmount *mnt)
{
	return ((run->held & COSY_HELD_PWD) && run->names.pwd.mnt == mnt) ||
	       ((run->held & COSY_HELD_ROOT) && run->names.root.mnt == mnt);
}

/* Does the same for the mount of the entry found last, which a name may have crossed. */
static bool child_stays(const struct cosy_activation *run)
{
	const struct vfsmount *mnt = run->names.child.mnt;

	return mount_stays(run, mnt) || cosy_prefix_crosses(run, mnt);
}

/*
 * Forgets names of which only the directory that is being closed, descriptor `number`, may keep the
 * mount: those below it, and those of which it is not known where they were found.
 */
static void directory_forget(struct cosy_activation *run, s32 number)
{
	const struct cosy_names *names = &run->names;

	run->held &= ~COSY_HELD_AGREED;
	cosy_prefix_drop_unless(run, mount_stays);
	if ((run->held & COSY_HELD_CHILD) &&
	    (names->child_dirfd == number ||
	     (names->child_dirfd == COSY_NO_DIRFD && !child_stays(run))))
		cosy_child_drop(run);
}

/*
 * Prepares for the close of a descriptor.  True: it is of a file whose close needs no more care.
 * A table that others share may have changed by the time of the close, but then no name depends on
 * it.
 */
static noinline bool close_begin(struct cosy_activation *run, u32 number)
{
	struct fd fd = fdget(number);
	const struct inode *inode;
	bool served;

	if (unlikely(!fd_file(fd)))
		return false;
	inode = file_inode(fd_file(fd));
	if (S_ISDIR(inode->i_mode)) {
		served = cosy_cached_sb(inode->i_sb);
		directory_forget(run, number);
	} else {
		served = cosy_cached_file(fd_file(fd));
	}
	fdput(fd);
	return served;
}

s64 cosy_fast_close(struct cosy_activation *run, const u64 *r)
{
	struct pt_regs regs __cosy_uninitialized;

	if (unlikely(run->descriptors.number[(u32)r[1] % COSY_KNOWN] != (u32)r[1] &&
		     !close_begin(run, r[1])))
		return cosy_guard_failed(run, COSY_GUARD_FS_CONSTANT);
	/* They may be of this file, and only its descriptor keeps what they are compared with. */
	cosy_cursors_drop(run);
	cosy_descriptors_forget(&run->descriptors);
	regs.di = r[1];
	return cosy_call_result(run, static_call(cosy_dispatch)(&regs, __NR_close));
}
