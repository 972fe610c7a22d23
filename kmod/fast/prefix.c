// SPDX-License-Identifier: GPL-2.0
/*
 * prefix.c - see prefix.h.
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
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "context.h"
#include "fast/lookup.h"
#include "fast/mount.h"
#include "fast/next.h"
#include "fast/permission.h"
#include "fast/prefix.h"

/* Stands for the sequence counter of an entry that `..` led to; no counter is odd. */
#define PREFIX_UP 1U

/* Names in a row that do not go a way until it is given up: others wait for its mounts. */
#define PREFIX_IDLE 64

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

struct vfsmount *cosy_mount_on(struct vfsmount *mnt, struct dentry *entry)
{
	struct path at = { .mnt = mnt, .dentry = entry };
	struct vfsmount *ret = NULL;

	path_get(&at);
	while ((READ_ONCE(at.dentry->d_flags) & DCACHE_MOUNTED) && follow_down_one(&at)) {
		ret = at.mnt;
		if (READ_ONCE(at.dentry->d_flags) & COSY_PREFIX_CARE) {
			ret = ERR_PTR(-EOPNOTSUPP);
			break;
		}
	}
	dput(at.dentry);
	if (IS_ERR_OR_NULL(ret))
		mntput(at.mnt);
	return ret;
}

/*
 * Asks the kernel whether the mount on entry `i`, which is one of `mnt`, is still the one that is
 * kept.  That takes references, so it is done once after each change of the mounts.
 */
static noinline bool mount_is_same(struct cosy_prefix *prefix, struct vfsmount *mnt, u32 i)
{
	u32 mounts = cosy_mounts_now();
	struct vfsmount *now = cosy_mount_on(mnt, prefix->entry[i]);

	if (IS_ERR(now))
		return false;
	mntput(now);
	if (now != prefix->mount[i])
		return false;
	prefix->mounts[i] = mounts;
	return true;
}

/* Tells whether the mount on entry `i`, which is one of `mnt`, is still the one that is kept. */
static __always_inline bool mount_holds(struct cosy_prefix *prefix, struct vfsmount *mnt, u32 i)
{
	u32 mounts;

	if (likely(!(READ_ONCE(prefix->entry[i]->d_flags) & DCACHE_MOUNTED)))
		return !prefix->mount[i];
	mounts = cosy_mounts_now();
	return likely(mounts == prefix->mounts[i] && !(mounts & 1)) ||
	       mount_is_same(prefix, mnt, i);
}

/* --- Entries ------------------------------------------------------------------------------- */

/* Makes room for the ways.  It must not sleep: meanwhile other names are held. */
static bool prefixes_make(struct cosy_activation *run)
{
	struct cosy_prefixes *made = xchg(&run->context->spare_prefixes, NULL);

	if (!made)
		made = kmalloc(sizeof(*made), GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	run->names.prefixes = made;
	return made;
}

void cosy_prefixes_free(struct cosy_activation *run)
{
	kfree(xchg(&run->context->spare_prefixes, run->names.prefixes));
	run->names.prefixes = NULL;
}

static struct cosy_prefix *prefix_last(const struct cosy_activation *run)
{
	return run->names.prefixes->each + run->names.prefixes->last;
}

/* Keeps the first `depth` entries only. */
static void prefix_cut(struct cosy_activation *run, struct cosy_prefix *prefix, u32 depth)
{
	while (prefix->depth > depth) {
		prefix->depth--;
		if (unlikely(prefix->mount[prefix->depth]))
			mount_drop(run, prefix->mount[prefix->depth]);
		dput(prefix->entry[prefix->depth]);
	}
}

void cosy_prefix_drop(struct cosy_activation *run)
{
	u32 i;

	if (!(run->held & COSY_HELD_PREFIX))
		return;
	for (i = 0; i < ARRAY_SIZE(run->names.prefixes->each); i++)
		prefix_cut(run, run->names.prefixes->each + i, 0);
	run->held &= ~COSY_HELD_PREFIX;
}

void cosy_prefix_drop_unless(struct cosy_activation *run,
			     bool (*stays)(const struct cosy_activation *run,
					   const struct vfsmount *mount))
{
	struct cosy_prefix *prefix;
	u32 i;

	if (!(run->held & COSY_HELD_PREFIX))
		return;
	for (i = 0; i < ARRAY_SIZE(run->names.prefixes->each); i++) {
		prefix = run->names.prefixes->each + i;
		if (prefix->depth && !stays(run, prefix->base.mnt))
			prefix_cut(run, prefix, 0);
	}
}

bool cosy_prefix_crosses(const struct cosy_activation *run, const struct vfsmount *mount)
{
	const struct cosy_prefix *prefix;
	u32 i, j;

	if (!(run->held & COSY_HELD_PREFIX))
		return false;
	for (i = 0; i < ARRAY_SIZE(run->names.prefixes->each); i++) {
		prefix = run->names.prefixes->each + i;
		for (j = 0; j < prefix->depth; j++)
			if (prefix->mount[j] == mount)
				return true;
	}
	return false;
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
static __always_inline bool prefix_holds(struct cosy_prefix *prefix, const struct path *at, u32 i)
{
	struct dentry *entry = prefix->entry[i];

	if (unlikely(prefix->seq[i] == PREFIX_UP)) {
		if (entry_above(at) != entry)
			return false;
	} else if (read_seqcount_retry(&entry->d_seq, prefix->seq[i])) {
		return false;
	}
	return !(READ_ONCE(entry->d_flags) & COSY_PREFIX_CARE) && mount_holds(prefix, at->mnt, i);
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
	struct cosy_prefix *prefix;
	struct path at;
	u32 i;

	if (!(run->held & COSY_HELD_PREFIX))
		return true;
	prefix = prefix_last(run);
	at = prefix->base;
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
	struct cosy_prefix *prefix = prefix_last(run);
	struct vfsmount *mount = NULL;

	prefix->mounts[prefix->depth] = cosy_mounts_now();
	if (unlikely(READ_ONCE(entry->d_flags) & DCACHE_MOUNTED))
		mount = cosy_mount_on(at->mnt, entry);
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
	if (entry != entry_above(at) || (READ_ONCE(entry->d_flags) & COSY_PREFIX_CARE)) {
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
	struct cosy_prefix *prefix = prefix_last(run);
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
	if (READ_ONCE(entry->d_flags) & COSY_PREFIX_CARE)
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

/* Returns how many of the components kept are those of a text whose first `same` bytes agree. */
static u32 depth_of(const struct cosy_prefix *prefix, u32 same)
{
	u32 i = 0;

	while (i < prefix->depth && prefix->end[i] < same)
		i++;
	return i;
}

/* Returns how many bytes of `path`, from `base` on, agree with the text kept. */
static u32 prefix_agrees(const struct cosy_prefix *prefix, const struct path *base, const u8 *path)
{
	return prefix->depth && path_equal(&prefix->base, base) ? prefix_same(prefix, path) : 0;
}

/*
 * Returns the way for a name's directories, the first `length` bytes of `path`, where the one that
 * was used last, of whose text `*same` bytes agree, has not all of them.
 */
static noinline struct cosy_prefix *prefix_other(struct cosy_activation *run,
						 const struct path *base, const u8 *path,
						 u32 length, u32 *same)
{
	struct cosy_prefix *last = prefix_last(run), *other;
	u32 kept = depth_of(last, *same), agree;

	other = run->names.prefixes->each + !run->names.prefixes->last;
	agree = prefix_agrees(other, base, path);
	/* One that only goes on loses nothing.  If neither has more, the older one is given up. */
	if (agree <= length &&
	    (kept == last->depth || (other->depth && depth_of(other, agree) < kept)))
		return last;
	run->names.prefixes->last ^= 1;
	run->names.prefixes->idle = 0;
	*same = agree;
	return other;
}

/* Returns the way to use, and how many bytes of its text agree with `path` from `base` on. */
static __always_inline struct cosy_prefix *prefix_choose(struct cosy_activation *run,
							 const struct path *base, const u8 *path,
							 u32 length, u32 *same)
{
	struct cosy_prefixes *prefixes = run->names.prefixes;
	struct cosy_prefix *prefix;
	u32 i;

	if (unlikely(!(run->held & COSY_HELD_PREFIX))) {
		for (i = 0; i < ARRAY_SIZE(prefixes->each); i++)
			prefixes->each[i].depth = 0;
		prefixes->last = prefixes->idle = 0;
	}
	prefix = prefix_last(run);
	*same = prefix_agrees(prefix, base, path);
	if (unlikely(*same <= length))
		prefix = prefix_other(run, base, path, length, same);
	if (unlikely(++prefixes->idle == PREFIX_IDLE))
		prefix_cut(run, prefixes->each + !prefixes->last, 0);
	if (unlikely(!*same)) {
		prefix_cut(run, prefix, 0);
		prefix->base = *base;
	}
	return prefix;
}

s64 cosy_prefix_enter(struct cosy_activation *run, const struct path *base, const u8 *path,
		      u32 length)
{
	struct path dir = *base;
	struct cosy_prefix *prefix;
	struct qstr name;
	u32 i, from, end, same;
	s64 error;

	if (unlikely(!run->names.prefixes && !prefixes_make(run)))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	prefix = prefix_choose(run, base, path, length, &same);
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
			prefix_cut(run, prefix, i);
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
	run->names.prefixes->went = i;
	run->names.prefix_dir = dir;
	return 0;
}

/* --- The same way again -------------------------------------------------------------------- */

u32 cosy_prefix_begins(const struct cosy_activation *run, const struct path *base, const u8 *at,
		       bool user)
{
	const struct cosy_prefixes *prefixes = run->names.prefixes;
	const struct cosy_prefix *prefix;
	u32 length;

	if (!(run->held & COSY_HELD_PREFIX))
		return 0;
	prefix = prefix_last(run);
	/* A way that is given up drops more than this one: cosy_prefix_enter does that. */
	if (unlikely(!prefixes->went || prefixes->went > prefix->depth ||
		     prefixes->idle + 1 == PREFIX_IDLE || !path_equal(&prefix->base, base)))
		return 0;
	length = prefix->end[prefixes->went - 1] + 1;
	return cosy_memory_name_is(prefix->text, at, length, user) ? length : 0;
}

void cosy_prefix_end(const struct cosy_activation *run, struct path *ret)
{
	const struct cosy_prefix *prefix = prefix_last(run);
	u32 i;

	*ret = prefix->base;
	for (i = 0; i < run->names.prefixes->went; i++)
		prefix_follow(prefix, i, ret);
}

s64 cosy_prefix_again(struct cosy_activation *run)
{
	struct cosy_prefix *prefix = prefix_last(run);
	struct path at = prefix->base;
	s64 error;
	u32 i;

	run->names.prefixes->idle++;
	for (i = 0;; i++) {
		error = cosy_may_search(&at);
		if (unlikely(error) || i == run->names.prefixes->went)
			break;
		if (unlikely(!prefix_holds(prefix, &at, i)))
			return COSY_ORDINARY;
		prefix_follow(prefix, i, &at);
	}
	run->names.prefix_dir = at;
	return error;
}
