// SPDX-License-Identifier: GPL-2.0
/*
 * held.c - see held.h.
 *
 * Loops that copy, pack or write files make calls by name, and ordinary calls in between.  Before
 * most ordinary calls everything is dropped, since they may sleep for as long as others like:
 * meanwhile a kept mount could not be unmounted, and a kept entry's file would not go when it is
 * unlinked.  Before some calls the references to directories stay (is_brief): those of the
 * current directory and the root, which the process has itself, and the directories of names with
 * several components (fast/prefix.c) unless a name went over a mount on which the process has
 * nothing open.  The next call by name checks each of them again.
 */
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/sched.h>
#include <linux/unistd.h>
#include "fast/folio_cursor.h"
#include "fast/lookup.h"
#include "fast/page_cache.h"
#include "fast/prefix.h"
#include "run/held.h"
#include "view/view.h"

/* Drops all but directories. */
static void rest_drop(struct cosy_activation *run)
{
	cosy_faults_allow(run);
	cosy_views_write_back(run);
	cosy_cursors_drop(run);
	cosy_child_drop(run);
	run->held &= ~COSY_HELD_AGREED;
}

void cosy_held_drop(struct cosy_activation *run)
{
	rest_drop(run);
	cosy_prefix_drop(run);
	cosy_pwd_drop(run);
	cosy_root_drop(run);
}

/* True for an open that makes a file: it waits for no other end of a pipe, lease or device. */
static bool makes_file(u64 flags)
{
	return (flags & (O_CREAT | O_EXCL | O_PATH)) == (O_CREAT | O_EXCL);
}

/* True for a descriptor of a file that waits for its disk at most. */
static bool is_file(u64 number)
{
	struct fd fd = fdget((u32)number);
	bool ret = fd_file(fd) && cosy_cached_file(fd_file(fd));

	fdput(fd);
	return ret;
}

/* True for a query or change of flags. */
static bool is_brief_fcntl(u32 command)
{
	return command == F_GETFL || command == F_SETFL || command == F_GETFD || command == F_SETFD;
}

/* True for a call that looks a name up, and at most changes what it names, but opens nothing. */
static bool goes_by_name(u32 number)
{
	switch (number) {
	case __NR_stat:
	case __NR_lstat:
	case __NR_newfstatat:
	case __NR_statx:
	case __NR_access:
	case __NR_faccessat:
	case __NR_faccessat2:
	case __NR_readlink:
	case __NR_readlinkat:
	case __NR_chmod:
	case __NR_fchmodat:
	case __NR_chown:
	case __NR_lchown:
	case __NR_fchownat:
	case __NR_utimensat:
	case __NR_link:
	case __NR_linkat:
	case __NR_symlink:
	case __NR_symlinkat:
	case __NR_mkdir:
	case __NR_mkdirat:
	case __NR_rename:
	case __NR_renameat:
	case __NR_renameat2:
	case __NR_unlink:
		return true;
	default:
		return false;
	}
}

/*
 * True for a call that by itself waits for no other process, closes no directory and leads nobody
 * to another one.
 */
static bool is_brief(u32 number, u64 r1, u64 r2, u64 r3)
{
	switch (number) {
	case __NR_open:
		return makes_file(r2);
	case __NR_openat:
		return makes_file(r3);
	case __NR_unlinkat:
		return !(u32)r3;
	case __NR_copy_file_range:
		return is_file(r1) && is_file(r3);
	case __NR_ioctl:
		return (u32)r2 == FICLONE && is_file(r1);
	case __NR_fcntl:
		return is_brief_fcntl(r2);
	case __NR_read:
	case __NR_pread64:
	case __NR_write:
	case __NR_pwrite64:
	case __NR_fadvise64:
	case __NR_ftruncate:
	case __NR_fallocate:
	case __NR_fchmod:
	case __NR_fchown:
	case __NR_fstat:
	case __NR_close:
		return is_file(r1);
	default:
		return goes_by_name(number);
	}
}

#define DESCRIPTORS 16 /* that are looked through */

/* True if the process has something of that mount open, by another descriptor than `closing`. */
static bool mount_is_open(const struct vfsmount *mount, u32 closing)
{
	const struct file *file;
	bool ret = false;
	u32 fd;

	rcu_read_lock();
	for (fd = 0; !ret && fd < DESCRIPTORS; fd++) {
		file = fd == closing ? NULL : files_lookup_fd_raw(current->files, fd);
		ret = file && file->f_path.mnt == mount;
	}
	rcu_read_unlock();
	return ret;
}

/*
 * True if the process itself has what the mounts of the names kept are held by, also during a call
 * that closes the descriptor `closing`.
 */
static bool mounts_are_own(const struct cosy_activation *run, u32 closing)
{
	const struct cosy_prefix *prefix;
	u32 i, j;

	/* Else another thread may go to another directory, or close one, meanwhile. */
	if (READ_ONCE(current->fs->users) != 1 || atomic_read(&current->files->count) != 1)
		return false;
	if (!(run->held & COSY_HELD_PREFIX))
		return true;
	for (i = 0; i < ARRAY_SIZE(run->names.prefixes->each); i++) {
		prefix = run->names.prefixes->each + i;
		for (j = 0; j < prefix->depth; j++)
			if (prefix->mount[j] && !mount_is_open(prefix->mount[j], closing))
				return false;
	}
	return true;
}

void cosy_held_drop_for(struct cosy_activation *run, u32 number, u64 r1, u64 r2, u64 r3)
{
	u32 closing = number == __NR_close ? r1 : U32_MAX;

	if (!is_brief(number, r1, r2, r3) || !mounts_are_own(run, closing)) {
		cosy_held_drop(run);
		return;
	}
	rest_drop(run);
	/* It counts like a specialised call: see cosy_names_follow. */
	run->names.ordinary++;
}
