// SPDX-License-Identifier: GPL-2.0
/* way.c - see way.h. */
#include <linux/dcache.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/rcupdate.h>
#include <linux/seqlock.h>
#include <asm/word-at-a-time.h>
#include "compat/compat.h"
#include "watch/admit.h"
#include "watch/hooks.h"
#include "watch/process.h"
#include "watch/way.h"

/* The way crosses mounts, or has become another one: it has to be looked up. */
#define UNKNOWN 1

/* Flags of entries whose look-up takes more than comparing names: mount points, for example. */
#define UNUSUAL (DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE | DCACHE_OP_HASH | DCACHE_OP_COMPARE)

/* --- The directory ----------------------------------------------------------------------------- */

/* Looks the prefix up: a reference in `ret`. */
static int prefix_find(const struct cosy_watch_reading *r, struct path *ret)
{
	return kern_path(r->prefix, LOOKUP_FOLLOW | LOOKUP_DIRECTORY | LOOKUP_NO_SYMLINKS, ret);
}

static int descriptor_find(struct cosy_watch_reading *r)
{
	r->fd = fdget(r->asked->dirfd);
	/* EBADF would be about the watcher's own descriptor. */
	if (!fd_file(r->fd))
		return -EOPNOTSUPP;
	r->dir = fd_file(r->fd)->f_path;
	/* A file that is open for reading may be listed by the caller. */
	if ((fd_file(r->fd)->f_mode & FMODE_READ) && d_is_dir(r->dir.dentry))
		return 0;
	fdput(r->fd);
	return -EOPNOTSUPP;
}

int cosy_way_find(struct cosy_watch_reading *r)
{
	if (r->prefix_length)
		return prefix_find(r, &r->dir);
	if (r->asked->dirfd != AT_FDCWD)
		return descriptor_find(r);
	get_fs_pwd(current->fs, &r->dir);
	return 0;
}

void cosy_way_leave(struct cosy_watch_reading *r)
{
	if (!r->prefix_length && r->asked->dirfd != AT_FDCWD)
		fdput(r->fd);
	else
		path_put(&r->dir);
}

/* --- Registration -------------------------------------------------------------------------- */

/* Reads where the process's relative, or its absolute, paths begin.  Under rcu_read_lock. */
static struct path way_begin(const struct cosy_watch_reading *r)
{
	struct fs_struct *fs = current->fs;
	struct path begin;
	unsigned int seq;

	do {
		seq = cosy_fs_read_begin(fs);
		begin = r->prefix[0] == '/' ? fs->root : fs->pwd;
	} while (cosy_fs_read_retry(fs, seq));
	return begin;
}

static int dir_register(struct cosy_watch_reading *r, const struct vfsmount *mnt,
			const struct inode *dir)
{
	/* The hooks must see changes of every directory on the way. */
	if (!dir || !cosy_hooks_see_directory(dir) || !cosy_watch_mount_is_own(mnt))
		return -EOPNOTSUPP;
	return cosy_watcher_register_way(r->watcher, dir) ? 0 : -EAGAIN;
}

/* Registers a way inside of one mount.  UNKNOWN: it crosses mounts, and some are registered. */
static int mount_register(struct cosy_watch_reading *r)
{
	struct dentry *at = r->dir.dentry;
	struct path begin;
	int error = 0, steps;

	rcu_read_lock();
	begin = way_begin(r);
	for (steps = 0; !error && (at != begin.dentry || r->dir.mnt != begin.mnt); steps++) {
		if (steps == COSY_WATCH_WAYS - 1 || IS_ROOT(at) || at == r->dir.mnt->mnt_root) {
			error = UNKNOWN;
			break;
		}
		at = READ_ONCE(at->d_parent);
		error = dir_register(r, r->dir.mnt, d_inode_rcu(at));
	}
	rcu_read_unlock();
	return error;
}

/* Calls `visit` for the directories on the way to that of the READ.  0, or what ended it. */
static int way_visit(struct cosy_watch_reading *r,
		     int (*visit)(struct cosy_watch_reading *r, const struct vfsmount *mnt,
				  struct inode *dir))
{
	struct path at, stop, parent;
	int error = 0, steps;

	if (r->prefix[0] == '/')
		get_fs_root(current->fs, &stop);
	else
		get_fs_pwd(current->fs, &stop);
	at = r->dir;
	path_get(&at);
	/* A directory that has left its mount has no way to it, but an end. */
	for (steps = 0; !error && !path_equal(&at, &stop); steps++) {
		if (steps == COSY_WATCH_WAYS - 1) {
			error = -EOPNOTSUPP;
		} else if (at.dentry == at.mnt->mnt_root) {
			/* The directory below is a name on the way as well. */
			error = follow_up(&at) ? visit(r, at.mnt, d_inode(at.dentry)) : -EOPNOTSUPP;
		} else if (IS_ROOT(at.dentry)) {
			error = -EOPNOTSUPP;
		} else {
			parent.mnt = mntget(at.mnt);
			parent.dentry = dget_parent(at.dentry);
			path_put(&at);
			at = parent;
			error = visit(r, at.mnt, d_inode(at.dentry));
		}
	}
	path_put(&at);
	path_put(&stop);
	return error;
}

static int visit_register(struct cosy_watch_reading *r, const struct vfsmount *mnt,
			  struct inode *dir)
{
	return dir_register(r, mnt, dir);
}

int cosy_way_register(struct cosy_watch_reading *r)
{
	int error;

	if (!r->prefix_length)
		return 0;
	error = mount_register(r);
	return error == UNKNOWN ? way_visit(r, visit_register) : error;
}

/* --- Checks -------------------------------------------------------------------------------- */

/* A directory that was not registered has come to be on the way since. */
static int dir_check(struct cosy_watch_reading *r, struct inode *dir)
{
	return cosy_watch_is_changing(dir) || !cosy_watcher_has_way(r->watcher, dir) ? -EAGAIN : 0;
}

static int visit_check(struct cosy_watch_reading *r, const struct vfsmount *mnt, struct inode *dir)
{
	return cosy_watch_mount_is_own(mnt) ? dir_check(r, dir) : -EOPNOTSUPP;
}

/* Checks the way, then looks it up again. */
static int way_look_up(struct cosy_watch_reading *r)
{
	struct path again;
	int error = way_visit(r, visit_check);

	if (!error)
		error = prefix_find(r, &again);
	if (error)
		return error;
	if (!path_equal(&r->dir, &again))
		error = -EAGAIN;
	path_put(&again);
	return error;
}

/*
 * Returns the last component of the prefix before `*end`, and its length; 0: there is none.  `*end`
 * becomes its begin.
 */
static const char *prefix_component(const char *prefix, const char **end, u32 *length)
{
	const char *at = *end;

	do {
		while (at > prefix && at[-1] == '/')
			at--;
		*end = at;
		while (at > prefix && at[-1] != '/')
			at--;
		*length = *end - at;
	} while (*length == 1 && *at == '.');
	*end = at;
	return at;
}

/* Tells whether an entry has the name.  The caller checks that nothing was renamed meanwhile. */
static bool entry_has_name(const struct dentry *entry, const char *name, u32 length)
{
	const unsigned char *own = smp_load_acquire(&entry->d_name.name);
	u64 word;

	/* It may be a shorter one, which differs at its NUL.  Entries' names have room up to words. */
	for (; length >= sizeof(word); length -= sizeof(word)) {
		if (read_word_at_a_time(own) != load_unaligned_zeropad(name))
			return false;
		own += sizeof(word);
		name += sizeof(word);
	}
	word = read_word_at_a_time(own);
	/* The name ends here as well. */
	return (word & ((0x100ull << 8 * length) - 1)) ==
	       (load_unaligned_zeropad(name) & ((1ull << 8 * length) - 1));
}

/*
 * Goes from the directory up to the begin of the way, and compares each entry's name with the
 * prefix.  So the prefix leads to the directory, as a look-up would find: nothing is renamed
 * meanwhile, no symbolic link is an entry with entries, and nothing is mounted on any.
 */
static int mount_check(struct cosy_watch_reading *r)
{
	const char *end = r->prefix + r->prefix_length, *name;
	struct dentry *at = r->dir.dentry, *parent;
	unsigned int moved = read_seqbegin(&rename_lock);
	struct path begin = way_begin(r);
	struct inode *dir;
	u32 length, steps;
	int error;

	for (steps = 0; steps < COSY_WATCH_WAYS; steps++) {
		name = prefix_component(r->prefix, &end, &length);
		if (!length) {
			if (at != begin.dentry || r->dir.mnt != begin.mnt)
				return UNKNOWN;
			return read_seqretry(&rename_lock, moved) ? -EAGAIN : 0;
		}
		if (IS_ROOT(at) || at == r->dir.mnt->mnt_root || d_unhashed(at) ||
		    (READ_ONCE(at->d_flags) & UNUSUAL) || !entry_has_name(at, name, length))
			return UNKNOWN;
		parent = READ_ONCE(at->d_parent);
		dir = d_inode_rcu(parent);
		error = dir ? dir_check(r, dir) : -EAGAIN;
		/* That changes were complete is known, so these are the permissions. */
		if (!error)
			error = inode_permission(cosy_mnt_idmap(r->dir.mnt), dir,
						 MAY_EXEC | MAY_NOT_BLOCK);
		if (error)
			return error == -ECHILD ? UNKNOWN : error;
		at = parent;
	}
	return UNKNOWN;
}

/* The descriptor still names the directory, or the current one is still that. */
static bool directory_is_same(const struct cosy_watch_reading *r)
{
	struct path begin;
	struct fd fd;
	bool same;

	if (r->asked->dirfd != AT_FDCWD) {
		fd = fdget(r->asked->dirfd);
		same = fd_file(fd) == fd_file(r->fd);
		fdput(fd);
		return same;
	}
	rcu_read_lock();
	begin = way_begin(r);
	rcu_read_unlock();
	return path_equal(&begin, &r->dir);
}

int cosy_way_check(struct cosy_watch_reading *r)
{
	int error;

	if (!r->prefix_length)
		return directory_is_same(r) ? 0 : -EAGAIN;
	rcu_read_lock();
	error = mount_check(r);
	rcu_read_unlock();
	return error == UNKNOWN ? way_look_up(r) : error;
}
