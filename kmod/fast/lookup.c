// SPDX-License-Identifier: GPL-2.0
/*
 * lookup.c - names of several components (the directories before the last component), and the end
 * of the state that lookup.h keeps.
 *
 * git, make and others ask for a/b/c/x, then for a/b/c/y.  So references to the entries on the way
 * are kept.  Each call checks each of them in the walk's order: the permission to search its
 * parent; by its sequence counter, that it still has this name there (rename, remove and drop
 * change the counter); and that the same file system is mounted on it, or none.  A changed entry
 * and those below it are looked up again.
 *
 * Like the last entry (lookup.h), the entries are no references to their mount.  It is that of the
 * directory where the name begins (the current one, a descriptor's, or the root), up to an entry
 * that is mounted on.  Such a mount is kept by a reference, as a walk keeps it: meanwhile umount(2)
 * fails with EBUSY.
 *
 * `..` is an entry as well: the parent of the directory before it, as long as it is that.
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
#include "fast/symlink.h"

/* Stands for the sequence counter of an entry that `..` led to; no counter is odd. */
#define PREFIX_UP 1U

/* Flags of entries that need more care than a look-up. */
#define PREFIX_CARE ((DCACHE_MANAGED_DENTRY & ~DCACHE_MOUNTED) | DCACHE_OP_REVALIDATE)

/* --- Mounts on the way --------------------------------------------------------------------- */

/*
 * Gives the mount of a prefix back.  The entry found last may be of it without a reference, and
 * its file system may go with it.
 */
static void mount_drop(struct cosy_activation *run, struct vfsmount *mount)
{
	cosy_child_drop(run);
	run->held &= ~COSY_HELD_AGREED;
	mntput(mount);
}

/*
 * Goes from an entry to the root of the topmost file system that is mounted on it.  Returns a
 * reference to its mount; NULL: in this name space nothing is; an error: the walk asks one of the
 * file systems in between, as autofs, whether it may go on.
 */
static struct vfsmount *mount_get(struct vfsmount *mnt, struct dentry *entry)
{
	struct path at = { .mnt = mnt, .dentry = entry };
	struct vfsmount *ret = NULL;

	path_get(&at);
	while ((READ_ONCE(at.dentry->d_flags) & DCACHE_MOUNTED) && follow_down_one(&at)) {
		ret = at.mnt;
		if (READ_ONCE(at.dentry->d_flags) & PREFIX_CARE) {
			ret = ERR_PTR(-EOPNOTSUPP);
			break;
		}
	}
	dput(at.dentry);
	if (IS_ERR_OR_NULL(ret))
		mntput(at.mnt);
	return ret;
}

/* Tells whether the mount on entry `i`, which is one of `mnt`, is still the one that is kept. */
static bool mount_holds(const struct cosy_prefix *prefix, struct vfsmount *mnt, u32 i)
{
	struct vfsmount *now;

	if (likely(!(READ_ONCE(prefix->entry[i]->d_flags) & DCACHE_MOUNTED)))
		return !prefix->mount[i];
	now = mount_get(mnt, prefix->entry[i]);
	if (IS_ERR(now))
		return false;
	mntput(now);
	return now == prefix->mount[i];
}

/* --- Entries ------------------------------------------------------------------------------- */

/* Keeps the first `depth` entries only. */
static void prefix_cut(struct cosy_activation *run, u32 depth)
{
	struct cosy_prefix *prefix = &run->names.prefix;

	while (prefix->depth > depth) {
		prefix->depth--;
		if (unlikely(prefix->mount[prefix->depth]))
			mount_drop(run, prefix->mount[prefix->depth]);
		dput(prefix->entry[prefix->depth]);
	}
	if (!depth)
		run->held &= ~COSY_HELD_PREFIX;
}

void cosy_prefix_drop(struct cosy_activation *run)
{
	if (run->held & COSY_HELD_PREFIX)
		prefix_cut(run, 0);
}

static bool is_process_root(const struct path *at)
{
	struct fs_struct *fs = current->fs;
	unsigned int seq;
	bool is;

	do {
		seq = cosy_fs_read_begin(fs);
		is = path_equal(&fs->root, at);
	} while (cosy_fs_read_retry(fs, seq));
	return is;
}

/*
 * Returns the entry that `..` leads to from the directory `at`, without a reference.  NULL: at a root,
 * and in a mount of a part of a file system, which a directory may have left, the walk decides.
 */
static noinline struct dentry *entry_above(const struct path *at)
{
	if (at->dentry == at->mnt->mnt_root || at->mnt->mnt_root != at->mnt->mnt_sb->s_root ||
	    is_process_root(at))
		return NULL;
	return READ_ONCE(at->dentry->d_parent);
}

/* Tells whether entry `i`, which follows the directory `at`, is unchanged. */
static __always_inline bool prefix_holds(const struct cosy_prefix *prefix, const struct path *at,
					 u32 i)
{
	struct dentry *entry = prefix->entry[i];

	if (unlikely(prefix->seq[i] == PREFIX_UP)) {
		if (entry_above(at) != entry)
			return false;
	} else if (read_seqcount_retry(&entry->d_seq, prefix->seq[i])) {
		return false;
	}
	return !(READ_ONCE(entry->d_flags) & PREFIX_CARE) && mount_holds(prefix, at->mnt, i);
}

/* Goes from `at` to entry `i`, or to the root of the mount on it. */
static __always_inline void prefix_follow(const struct cosy_prefix *prefix, u32 i, struct path *at)
{
	at->dentry = prefix->entry[i];
	if (unlikely(prefix->mount[i])) {
		at->mnt = prefix->mount[i];
		at->dentry = at->mnt->mnt_root;
	}
}

bool cosy_prefix_holds(const struct cosy_activation *run)
{
	const struct cosy_prefix *prefix = &run->names.prefix;
	struct path at = prefix->base;
	u32 i;

	if (!(run->held & COSY_HELD_PREFIX))
		return true;
	for (i = 0; i < prefix->depth; i++) {
		if (!prefix_holds(prefix, &at, i))
			return false;
		prefix_follow(prefix, i, &at);
	}
	return true;
}

/*
 * Returns the sequence counter of `entry` if it is `name` in `dir`, else 1.  While it is locked
 * the counter cannot be odd.
 */
static unsigned int entry_sequence(struct dentry *entry, const struct dentry *dir,
				   const struct qstr *name)
{
	unsigned int seq = 1;

	spin_lock(&entry->d_lock);
	if (entry->d_parent == dir && !d_unhashed(entry) && cosy_entry_is(entry, name))
		seq = raw_read_seqcount(&entry->d_seq);
	spin_unlock(&entry->d_lock);
	return seq;
}

/*
 * Keeps `entry`, the caller's reference, which follows the directory `at` and whose text ends at `end`.
 * 0, or COSY_ORDINARY, with the reference dropped.
 */
static s64 prefix_keep(struct cosy_activation *run, const struct path *at, struct dentry *entry,
		       unsigned int seq, u32 end)
{
	struct cosy_prefix *prefix = &run->names.prefix;
	struct vfsmount *mount = NULL;

	if (unlikely(READ_ONCE(entry->d_flags) & DCACHE_MOUNTED))
		mount = mount_get(at->mnt, entry);
	if (IS_ERR(mount)) {
		dput(entry);
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	}
	prefix->entry[prefix->depth] = entry;
	prefix->seq[prefix->depth] = seq;
	prefix->mount[prefix->depth] = mount;
	prefix->end[prefix->depth++] = end;
	run->held |= COSY_HELD_PREFIX;
	return 0;
}

/* Goes to the parent of the directory `at`, and keeps it.  0 or COSY_ORDINARY. */
static s64 prefix_add_above(struct cosy_activation *run, const struct path *at, u32 end)
{
	struct dentry *entry;

	if (!entry_above(at))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	entry = dget_parent(at->dentry);
	if (entry != entry_above(at) || (READ_ONCE(entry->d_flags) & PREFIX_CARE)) {
		dput(entry);
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	}
	return prefix_keep(run, at, entry, PREFIX_UP, end);
}

/*
 * Looks up the directory `name` of `at`, and keeps it.  0, -ENOENT, or COSY_ORDINARY.
 */
static s64 prefix_add(struct cosy_activation *run, const struct path *at, struct qstr *name,
		      u32 end)
{
	struct cosy_prefix *prefix = &run->names.prefix;
	struct dentry *dir = at->dentry, *entry;
	enum cosy_guard failed;
	unsigned int seq;

	if (prefix->depth == COSY_PREFIX_DEPTH)
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	if (name->len == 2 && name->name[0] == '.' && name->name[1] == '.')
		return prefix_add_above(run, at, end);
	if (!cosy_is_component(name))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	if (READ_ONCE(dir->d_flags) & (DCACHE_OP_HASH | DCACHE_OP_COMPARE))
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	name->hash = full_name_hash(dir, name->name, name->len);
	entry = d_lookup(dir, name);
	if (!entry)
		return cosy_not_cached(run, dir);
	seq = entry_sequence(entry, dir, name);
	failed = COSY_GUARD_CACHED;
	if (seq & 1)
		goto put;
	failed = COSY_GUARD_PLAIN_DENTRY;
	if (READ_ONCE(entry->d_flags) & PREFIX_CARE)
		goto put;
	failed = COSY_GUARDS_HOLD;
	if (data_race(d_is_negative(entry)))
		goto put;
	failed = COSY_GUARD_NAME;
	if (!data_race(d_can_lookup(entry)))
		goto put;
	return prefix_keep(run, at, entry, seq, end);

put:
	dput(entry);
	return failed == COSY_GUARDS_HOLD ? -ENOENT : cosy_guard_failed(run, failed);
}

/* Returns how many bytes of `path` begin the kept components' text. */
static u32 prefix_same(const struct cosy_prefix *prefix, const u8 *path)
{
	u32 i, length = prefix->end[prefix->depth - 1] + 1;
	u64 differ;

	BUILD_BUG_ON(COSY_PREFIX_TEXT % sizeof(u64));
	for (i = 0; i < length; i += sizeof(u64)) {
		differ = *(const u64 *)(prefix->text + i) ^ load_unaligned_zeropad(path + i);
		if (differ)
			return min_t(u32, i + cosy_first_byte(differ), length);
	}
	return length;
}

/* Returns where the component at `from` ends, in `length` bytes of `path`. */
static u32 component_end(const u8 *path, u32 from, u32 length)
{
	const u8 *slash = memchr(path + from, '/', length - from);

	return slash ? slash - path : length;
}

/* Returns where the last slash is in `length` bytes of `path`; `length` if there is none. */
static u32 last_slash(const u8 *path, u32 length)
{
	u32 i = length;

	while (i)
		if (path[--i] == '/')
			return i;
	return length;
}

/*
 * Goes from `base` along the first `length` bytes of `path`, to run->names.prefix.dir; then is a
 * slash.
 */
static s64 prefix_enter(struct cosy_activation *run, const struct path *base, const u8 *path,
			u32 length)
{
	struct cosy_prefix *prefix = &run->names.prefix;
	struct path dir = *base;
	struct qstr name;
	u32 i, from, end, same = 0;
	s64 error;

	if (!(run->held & COSY_HELD_PREFIX)) {
		prefix->depth = 0;
		prefix->base = *base;
	} else if (!path_equal(&prefix->base, base)) {
		prefix_cut(run, 0);
		prefix->base = *base;
	} else {
		same = prefix_same(prefix, path);
	}
	for (i = from = 0; from <= length; i++, from = end + 1) {
		if (unlikely(!data_race(d_can_lookup(dir.dentry))))
			return cosy_guard_failed(run, COSY_GUARD_NAME);
		error = cosy_may_search(&dir);
		if (unlikely(error))
			return error;
		/* The same up to the slash: the component is the same, and ends there. */
		if (likely(i < prefix->depth && prefix->end[i] < same &&
			   prefix_holds(prefix, &dir, i))) {
			end = prefix->end[i];
		} else {
			end = component_end(path, from, length);
			prefix_cut(run, i);
			name.name = path + from;
			name.len = end - from;
			error = prefix_add(run, &dir, &name, end);
			if (unlikely(error == -ENOENT && !cosy_prefix_holds(run)))
				return cosy_guard_failed(run, COSY_GUARD_NAME);
			if (unlikely(error))
				return error;
			memcpy(prefix->text + from, path + from, end + 1 - from);
		}
		prefix_follow(prefix, i, &dir);
	}
	prefix->dir = dir;
	return 0;
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
	found->dir = &run->names.prefix.dir;
	if (!absolute)
		return prefix_enter(run, base, copy, slash);
	root_keep(run);
	if (slash)
		return prefix_enter(run, &run->names.root, copy + 1, slash - 1);
	run->names.prefix.dir = run->names.root;
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
	if (result == -ENOENT && found->dir == &run->names.prefix.dir && !cosy_prefix_holds(run))
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

	if (READ_ONCE(on->d_flags) & (PREFIX_CARE | DCACHE_OP_REVALIDATE))
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	mount = mount_get(found->path.mnt, on);
	/* In this name space nothing is mounted there. */
	if (IS_ERR_OR_NULL(mount))
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	if (!root_is_at_hand(mount->mnt_sb) ||
	    (READ_ONCE(mount->mnt_root->d_flags) & (PREFIX_CARE | DCACHE_OP_WEAK_REVALIDATE)) ||
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
