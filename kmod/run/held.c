// SPDX-License-Identifier: GPL-2.0
/*
 * held.c - see held.h.
 *
 * Loops that copy, pack or write files make calls by name, and ordinary calls in between.  Before
 * most ordinary calls everything is dropped, since they may sleep for as long as others like:
 * meanwhile a kept mount could not be unmounted, and a kept entry's file would not go when it is
 * unlinked.  Before some calls the references to directories stay (is_brief): those of the
 * current directory and the root, which the process has itself, and the directories of names with
 * several components (fast/lookup.c) unless a name went over a mount.  The next call by name checks
 * each of them again.
 */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/sched.h>
#include <linux/unistd.h>
#include "fast/folio_cursor.h"
#include "fast/lookup.h"
#include "fast/page_cache.h"
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

/*
 * True for a call that waits for no other process, closes no descriptor, leads nobody to another
 * directory and removes none.
 */
static bool is_brief(u32 number, u64 r1, u64 r2, u64 r3)
{
	switch (number) {
	case __NR_open:
		return makes_file(r2);
	case __NR_openat:
		return makes_file(r3);
	case __NR_mkdir:
	case __NR_mkdirat:
	case __NR_symlink:
	case __NR_symlinkat:
	case __NR_unlink:
		return true;
	case __NR_unlinkat:
		return !(u32)r3;
	case __NR_copy_file_range:
		return is_file(r1) && is_file(r3);
	case __NR_ioctl:
		return (u32)r2 == FICLONE && is_file(r1);
	case __NR_read:
	case __NR_pread64:
	case __NR_write:
	case __NR_pwrite64:
	case __NR_fadvise64:
	case __NR_ftruncate:
	case __NR_fallocate:
	case __NR_fchmod:
	case __NR_fchown:
		return is_file(r1);
	default:
		return false;
	}
}

/* True if the process itself has what the mounts of the names kept are held by. */
static bool mounts_are_own(const struct cosy_activation *run)
{
	const struct cosy_prefix *prefix = &run->names.prefix;
	u32 i;

	/* Else another thread may go to another directory meanwhile. */
	if (READ_ONCE(current->fs->users) != 1)
		return false;
	for (i = 0; (run->held & COSY_HELD_PREFIX) && i < prefix->depth; i++)
		if (prefix->mount[i])
			return false;
	return true;
}

void cosy_held_drop_for(struct cosy_activation *run, u32 number, u64 r1, u64 r2, u64 r3)
{
	if (!is_brief(number, r1, r2, r3) || !mounts_are_own(run)) {
		cosy_held_drop(run);
		return;
	}
	rest_drop(run);
	/* It counts like a specialised call: see cosy_names_follow. */
	run->names.ordinary++;
}
