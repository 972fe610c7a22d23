// SPDX-License-Identifier: GPL-2.0
/*
 * children.c - see children.h.
 *
 * A READ goes in this order, on which all of it rests:
 *
 *  1. find the directory, and register it and those on the way to it
 *  2. read the words of the way and of the numbers
 *  3. wait for mounts; give up if a directory on the way is being changed, or is not registered
 *  4. find the directory again, and check permissions
 *  5. lock the directory against changes of its entries
 *  6. for each entry: register its inode, read its word, check that it is stable, read attributes
 *
 * A change whose hook ran before 1 holds its lock in 3 or 6, or is complete and seen in 4 or 6.  A
 * change whose hook runs later changes a word that was read in 2 or 6.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/kdev_t.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/static_call.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <asm/word-at-a-time.h>
#include "compat/compat.h"
#include "compat/statx.h"
#include "fast/attributes.h"
#include "fast/child.h"
#include "fast/mount.h"
#include "kernel/symbols.h"
#include "watch/admit.h"
#include "watch/children.h"
#include "watch/hooks.h"
#include "watch/process.h"
#include "watch/watcher.h"

#define ENTRIES_SIZE (28 << 10)
#define PREFIX_SIZE  256
#define MAX_STEPS    (4 * COSY_WATCH_COUNT) /* entries that are passed under a directory's lock */

/* A READ under way. */
struct cosy_watch_reading {
	struct cosy_watcher *watcher;
	const struct cosy_watch_read *asked;
	struct cosy_watch_read *ret; /* the same */
	char prefix[PREFIX_SIZE];
	char name[NAME_MAX + 1];
	struct qstr name_text;
	struct path dir;
	struct dentry *children[COSY_WATCH_COUNT];
	u32 count, used;
	u32 tick;
	u8 entries[ENTRIES_SIZE] __aligned(sizeof(u64));
};

/* --- The way to the directory ------------------------------------------------------------------ */

/* Tells whether a path has a component of two dots: the way back is not the way that it went. */
static bool path_goes_up(const char *path)
{
	const char *at = path;

	while ((at = strstr(at, ".."))) {
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
		at += 2;
	}
	return false;
}

/* Copies the strings of the request. */
static int strings_get(struct cosy_watch_reading *r)
{
	const struct cosy_watch_read *asked = r->asked;
	long length;

	r->prefix[0] = 0;
	if (asked->prefix) {
		length = strncpy_from_user(r->prefix, u64_to_user_ptr(asked->prefix),
					   sizeof(r->prefix));
		if (length < 0)
			return length;
		if (length == sizeof(r->prefix) || path_goes_up(r->prefix) ||
		    (length && asked->dirfd != AT_FDCWD))
			return -EOPNOTSUPP;
	}
	length = strncpy_from_user(r->name, u64_to_user_ptr(asked->name), sizeof(r->name));
	if (length < 0)
		return length;
	if (length == sizeof(r->name))
		return -ENAMETOOLONG;
	r->name_text = (struct qstr)QSTR_INIT(r->name, length);
	return cosy_is_component(&r->name_text) && !memchr(r->name, '/', length) ? 0 : -EOPNOTSUPP;
}

/* Finds the directory: a reference in `ret`. */
static int directory_find(const struct cosy_watch_reading *r, struct path *ret)
{
	struct fd fd;

	if (r->prefix[0])
		return kern_path(r->prefix, LOOKUP_FOLLOW | LOOKUP_DIRECTORY | LOOKUP_NO_SYMLINKS,
				 ret);
	if (r->asked->dirfd == AT_FDCWD) {
		get_fs_pwd(current->fs, ret);
		return 0;
	}
	fd = fdget(r->asked->dirfd);
	/* EBADF would be about the watcher's own descriptor. */
	if (!fd_file(fd))
		return -EOPNOTSUPP;
	*ret = fd_file(fd)->f_path;
	path_get(ret);
	/* A file that is open for reading may be listed by the caller. */
	if (!(fd_file(fd)->f_mode & FMODE_READ) || !d_is_dir(ret->dentry)) {
		fdput(fd);
		path_put(ret);
		return -EOPNOTSUPP;
	}
	fdput(fd);
	return 0;
}

/* Calls `visit` for the directories on the way to that of the READ.  0, or what ended it. */
static int way_visit(struct cosy_watch_reading *r,
		     int (*visit)(struct cosy_watch_reading *r, struct inode *dir))
{
	struct path at, stop, parent;
	int error = 0, steps;

	if (!r->prefix[0])
		return 0;
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
			if (follow_up(&at) && cosy_watch_mount_is_own(at.mnt))
				error = visit(r, d_inode(at.dentry));
			else
				error = -EOPNOTSUPP;
		} else if (IS_ROOT(at.dentry)) {
			error = -EOPNOTSUPP;
		} else {
			parent.mnt = mntget(at.mnt);
			parent.dentry = dget_parent(at.dentry);
			path_put(&at);
			at = parent;
			error = cosy_watch_mount_is_own(at.mnt) ? visit(r, d_inode(at.dentry))
								: -EOPNOTSUPP;
		}
	}
	path_put(&at);
	path_put(&stop);
	return error;
}

static int way_register(struct cosy_watch_reading *r, struct inode *dir)
{
	/* The hooks must see changes of every directory on the way. */
	if (!cosy_hooks_see_directory(dir))
		return -EOPNOTSUPP;
	return cosy_watcher_register_way(r->watcher, dir) ? 0 : -EAGAIN;
}

/* A directory that was not registered has come to be on the way since. */
static int way_check(struct cosy_watch_reading *r, struct inode *dir)
{
	return cosy_watch_is_changing(dir) || !cosy_watcher_has_way(r->watcher, dir) ? -EAGAIN : 0;
}

static int hook_file_none(struct file *file, int mask)
{
	return -EOPNOTSUPP;
}

DEFINE_STATIC_CALL(cosy_hook_file, hook_file_none);

/* Opens a directory without raising an event.  Since 6.14 that takes a function, not a flag. */
static struct file *open_untold(const struct path *dir, int flags, const struct cred *cred)
{
#ifdef __FMODE_NONOTIFY
	return dentry_open(dir, flags | __FMODE_NONOTIFY, cred);
#else
	return ERR_PTR(-EOPNOTSUPP);
#endif
}

DEFINE_STATIC_CALL(cosy_open_untold, open_untold);

void __init cosy_watch_children_init(void)
{
	void *permission = cosy_unexported("security_file_permission");
	void *open = cosy_unexported("dentry_open_nonotify");

	if (permission)
		static_call_update(cosy_hook_file, (typeof(&hook_file_none))permission);
	if (open)
		static_call_update(cosy_open_untold, (typeof(&open_untold))open);
}

/* Asks for what readdir asks each time, of a directory that the caller has opened. */
static int descriptor_check(const struct cosy_watch_reading *r)
{
	struct fd fd = fdget(r->asked->dirfd);
	int error = -EAGAIN;

	if (fd_file(fd) && path_equal(&fd_file(fd)->f_path, &r->dir) &&
	    (fd_file(fd)->f_mode & FMODE_READ))
		error = static_call(cosy_hook_file)(fd_file(fd), MAY_READ);
	fdput(fd);
	return error;
}

/*
 * Asks for what opendir and readdir ask.  A descriptor's directory was opened.  For others it is
 * opened now, as the last one was if nothing has changed since.  No listener of fanotify is asked,
 * so none that may deny an open or a read may watch the file system.
 */
static int listing_check(struct cosy_watch_reading *r, const struct cosy_watch_read *read)
{
	struct cosy_watcher *watcher = r->watcher;
	struct file *file;
	int error;

	if (cosy_may_be_denied(r->dir.mnt->mnt_sb))
		return -EOPNOTSUPP;
	error = path_permission(&r->dir, MAY_EXEC);
	if (error)
		return error;
	if (r->asked->dirfd != AT_FDCWD)
		return descriptor_check(r);
	if (watcher->listed_word == read->dir_word && watcher->listed_value == read->dir_value &&
	    watcher->listed_way == read->way)
		return 0;
	error = path_permission(&r->dir, MAY_READ | MAY_OPEN);
	if (error)
		return error;
	WRITE_ONCE(watcher->reader, current);
	/* The program has not opened anything, so this raises no event. */
	file = static_call(cosy_open_untold)(&r->dir, O_RDONLY | O_DIRECTORY, current_cred());
	WRITE_ONCE(watcher->reader, NULL);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fput(file);
	watcher->listed_word = read->dir_word;
	watcher->listed_value = read->dir_value;
	watcher->listed_way = read->way;
	return 0;
}

/* --- The entries ------------------------------------------------------------------------------- */

/* Copies a name by words, with a NUL and zeros up to the last word's end. */
static __always_inline void name_copy(u64 *to, const u8 *from, u32 length)
{
	u64 word;

	for (; length >= sizeof(word); length -= sizeof(word), from += sizeof(word))
		*to++ = load_unaligned_zeropad(from);
	word = load_unaligned_zeropad(from);
	*to = word & ((1ull << 8 * length) - 1);
}

/* Adds an entry whose attributes may not be used so far.  NULL: there is no room. */
static struct cosy_watch_entry *entry_add(struct cosy_watch_reading *r, const struct qstr *name)
{
	struct cosy_watch_entry *entry = (void *)(r->entries + r->used);
	u32 length = ALIGN(sizeof(*entry) + name->len + 1, sizeof(u64));
	u32 room = min_t(u32, r->asked->entries_size, ENTRIES_SIZE);

	if (name->len > NAME_MAX || length > room - r->used)
		return NULL;
	entry->length = length;
	entry->name_length = name->len;
	entry->word = 0;
	entry->value = 0;
	name_copy((u64 *)(entry + 1), name->name, name->len);
	r->used += length;
	return entry;
}

/* Returns the entry to begin with: so many before the one that was asked for. */
static struct dentry *children_first(const struct cosy_watch_reading *r, struct dentry *dir,
				     struct dentry *asked)
{
	struct dentry *first = asked, *at = asked;
	u32 steps, before = r->asked->before;

	for (steps = 0; before && steps < MAX_STEPS; steps++) {
		at = cosy_dentry_before(dir, at);
		if (!at)
			break;
		if (data_race(d_is_negative(at)))
			continue;
		first = at;
		before--;
	}
	return first;
}

/*
 * Takes references to the entries, and copies their names, which the directory's lock keeps.  The
 * one that was asked for is `asked`.
 */
static void children_take(struct cosy_watch_reading *r, struct dentry *asked)
{
	struct dentry *dir = r->dir.dentry, *child;
	u32 steps;

	spin_lock(&dir->d_lock);
	if (asked->d_parent != dir || !cosy_dentry_has_siblings(asked)) {
		spin_unlock(&dir->d_lock);
		return;
	}
	child = children_first(r, dir, asked);
	for (steps = 0; child && steps < MAX_STEPS && r->count < r->asked->count; steps++) {
		if (!data_race(d_is_negative(child)) && cosy_entry_get(child)) {
			if (!entry_add(r, &child->d_name)) {
				/* It is not the last reference: dput does not sleep. */
				spin_unlock(&dir->d_lock);
				dput(child);
				return;
			}
			r->children[r->count++] = child;
		}
		child = cosy_dentry_after(dir, child);
	}
	spin_unlock(&dir->d_lock);
}

static __always_inline void stat_fill(struct stat *to, const struct kstat *stat)
{
	struct user_namespace *ns = current_user_ns();

	to->st_dev = new_encode_dev(stat->dev);
	to->st_ino = stat->ino;
	to->st_nlink = stat->nlink;
	to->st_mode = stat->mode;
	to->st_uid = cosy_uid_seen(ns, stat->uid);
	to->st_gid = cosy_gid_seen(ns, stat->gid);
	to->__pad0 = 0;
	to->st_rdev = new_encode_dev(stat->rdev);
	to->st_size = stat->size;
	to->st_blksize = stat->blksize;
	to->st_blocks = stat->blocks;
	to->st_atime = stat->atime.tv_sec;
	to->st_atime_nsec = stat->atime.tv_nsec;
	to->st_mtime = stat->mtime.tv_sec;
	to->st_mtime_nsec = stat->mtime.tv_nsec;
	to->st_ctime = stat->ctime.tv_sec;
	to->st_ctime_nsec = stat->ctime.tv_nsec;
}

/* Attributes that are the kernel's own, of no inode that is given out. */
#define KERNEL_ATTRIBUTES (STATX_ATTR_AUTOMOUNT | STATX_ATTR_DAX | STATX_ATTR_VERITY)

/* Notes what all entries have of struct statx, by the first one's. */
static void statx_note(const struct kstat *stat, struct cosy_watch_read *ret)
{
	ret->stx_mask = (stat->result_mask & ~COSY_STATX_OWN) | STATX_MNT_ID;
	/* An entry is no mount's root, since it was found in the mount of its directory. */
	ret->stx_attributes_mask = stat->attributes_mask | STATX_ATTR_MOUNT_ROOT;
}

/* Tells whether a file system that was asked by itself answers as for the first entry. */
static __always_inline bool statx_agrees(const struct kstat *stat,
					 const struct cosy_watch_read *ret)
{
	return stat->result_mask == (ret->stx_mask & ~STATX_MNT_ID) &&
	       !((stat->attributes_mask ^ ret->stx_attributes_mask) &
		 ~(u64)(KERNEL_ATTRIBUTES | STATX_ATTR_MOUNT_ROOT));
}

/*
 * As vfs_getattr, but after the first entry the file system itself is asked, and fields are not
 * cleared that it sets or nobody reads.  It has to be asked, since a query has effects there
 * (multigrain times).
 */
static __always_inline int attributes_get(const struct path *path, struct kstat *stat,
					  struct cosy_watch_read *ret)
{
	const struct inode *inode = d_inode(path->dentry);
	int error = -ENOSYS;

	if (likely(ret->stx_mask && inode->i_op->getattr &&
		   !(inode->i_flags & (S_AUTOMOUNT | S_DAX))))
		error = cosy_may_get_attributes(path);
	if (unlikely(error == -ENOSYS)) {
		error = vfs_getattr(path, stat, STATX_BASIC_STATS, 0);
		if (!error && !ret->stx_mask)
			statx_note(stat, ret);
		return error;
	}
	if (error)
		return error;
	stat->result_mask = STATX_BASIC_STATS;
	stat->attributes = stat->attributes_mask = 0;
	error = inode->i_op->getattr(cosy_mnt_idmap(path->mnt), path, stat, STATX_BASIC_STATS, 0);
	return error || statx_agrees(stat, ret) ? error : -EOPNOTSUPP;
}

static void entry_fill(struct cosy_watch_reading *r, struct cosy_watch_entry *entry,
		       struct dentry *child)
{
	struct path path = { .mnt = r->dir.mnt, .dentry = child };
	const struct inode *inode = d_inode(child);
	struct kstat stat __cosy_uninitialized; /* attributes_get fills in what is used */
	u32 word;
	u64 value;

	static_assert(sizeof(entry->stat) == offsetof(struct stat, __unused));
	if (!inode || READ_ONCE(child->d_flags) & (DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE))
		return;
	word = cosy_watcher_register(r->watcher, inode);
	if (!word)
		return;
	value = atomic64_read(cosy_watch_word(r->watcher, word));
	smp_mb();
	/* st_blksize shows that huge pages were switched on for all of tmpfs. */
	if (!cosy_watch_is_stable(inode) || attributes_get(&path, &stat, r->ret) ||
	    stat.blksize != i_blocksize(inode)) {
		cosy_watcher_unregister(r->watcher, word);
		return;
	}
	stat_fill((struct stat *)entry->stat, &stat);
	entry->attributes = stat.attributes & ~COSY_STATX_ATTR_OWN;
	entry->value = value;
	entry->word = word;
}

static int children_read(struct cosy_watch_reading *r)
{
	struct dentry *dir = r->dir.dentry, *asked;
	struct cosy_watch_entry *entry;
	u8 *at = r->entries;
	u32 i;

	r->name_text.hash = full_name_hash(dir, r->name, r->name_text.len);
	asked = d_lookup(dir, &r->name_text);
	if (!asked)
		return -ENOENT;
	if (d_really_is_positive(asked))
		children_take(r, asked);
	dput(asked);
	for (i = 0; i < r->count; i++) {
		entry = (void *)at;
		entry_fill(r, entry, r->children[i]);
		dput(r->children[i]);
		at += entry->length;
	}
	return r->count ? 0 : -ENOENT;
}

/* --- READ -------------------------------------------------------------------------------------- */

/* Does steps 2 to 6, for the directory in r->dir. */
static int directory_read(struct cosy_watch_reading *r, struct cosy_watch_read *ret)
{
	struct cosy_watcher *watcher = r->watcher;
	struct inode *inode = d_inode(r->dir.dentry);
	struct path again;
	bool same;
	int error;

	ret->dir_value = atomic64_read(cosy_watch_word(watcher, ret->dir_word));
	ret->way = atomic64_read(cosy_watch_word(watcher, COSY_WATCH_WAY));
	ret->numbers = atomic64_read(cosy_watch_word(watcher, COSY_WATCH_NUMBERS));
	smp_mb();
	if (cosy_watcher_has_ticked(watcher, r->tick))
		return -EAGAIN;
	cosy_watch_settle_mounts();
	error = cosy_watch_is_changing(inode) ? -EAGAIN : way_visit(r, way_check);
	if (!error)
		error = directory_find(r, &again);
	if (error)
		return error;
	same = path_equal(&r->dir, &again);
	path_put(&again);
	if (!same)
		return -EAGAIN;
	error = listing_check(r, ret);
	if (!error)
		error = cosy_watch_check_process(watcher);
	if (error)
		return error;
	if (!inode_trylock_shared(inode))
		return -EAGAIN;
	error = cosy_watch_admits_directory(r->dir.dentry) ? children_read(r) : -EOPNOTSUPP;
	inode_unlock_shared(inode);
	return error;
}

/* Fills in the rest of struct statx. */
static void mount_fill(const struct path *dir, struct cosy_watch_read *ret)
{
	ret->flags = cosy_times_are_coarse(d_inode(dir->dentry)) ? 0 : COSY_WATCH_COUNTED_TIMES;
	ret->pad = 0;
	if (cosy_mount_ids_are_known())
		ret->stx_mnt_id = cosy_mount_id(dir->mnt);
	else
		ret->stx_mask = 0;
}

static int reading_serve(struct cosy_watch_reading *r, struct cosy_watch_read *read)
{
	int error = strings_get(r);

	if (!error)
		error = directory_find(r, &r->dir);
	if (error)
		return error;
	r->tick = cosy_watcher_begin(r->watcher);
	error = -EOPNOTSUPP;
	if (cosy_watch_mount_is_own(r->dir.mnt) && cosy_watch_admits_directory(r->dir.dentry))
		error = way_visit(r, way_register);
	if (!error) {
		read->dir_word =
			cosy_watcher_register_directory(r->watcher, d_inode(r->dir.dentry));
		error = read->dir_word ? directory_read(r, read) : -EAGAIN;
	}
	cosy_watcher_finish(r->watcher);
	mount_fill(&r->dir, read);
	path_put(&r->dir);
	if (error)
		return error;
	read->used = r->used;
	read->found = r->count;
	if (copy_to_user(u64_to_user_ptr(read->entries), r->entries, r->used))
		return -EFAULT;
	return 0;
}

long cosy_watch_read(struct cosy_watcher *watcher, struct cosy_watch_read *read)
{
	struct cosy_watch_reading *r = watcher->reading;
	int error;

	if (!read->count || read->count > COSY_WATCH_COUNT || read->before >= COSY_WATCH_COUNT)
		return -EINVAL;
	error = cosy_watch_check_process(watcher);
	if (error)
		return error;
	/* Kept for the next one.  It has no bytes but zeros and those of this process's answers. */
	if (!r)
		r = watcher->reading = kvzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return -ENOMEM;
	r->watcher = watcher;
	r->asked = r->ret = read;
	read->stx_mask = 0;
	r->count = r->used = 0;
	return reading_serve(r, read);
}
