// SPDX-License-Identifier: GPL-2.0
/*
 * stat.c - see stat.h.
 *
 * What the path walk does for one component, in its order: the name from the user's
 * memory, the directory, the permission to search it (with the security module's say),
 * the directory cache.  Whatever else the walk knows (dots, links to follow, mounts,
 * automounts, hashes and comparisons of the file system's own, names that may have
 * become stale, names that are not there) is the ordinary call's.
 *
 * The look-up and the check for a mount on what it found are as little one step as in
 * the kernel's walk: each call's result is one that it could have had.
 */
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/limits.h>
#include <linux/stringhash.h>
#include <asm/word-at-a-time.h>
#include "compat/compat.h"
#include "fast/attributes.h"
#include "fast/fast.h"
#include "fast/stat.h"
#include "memory/memory.h"

/*
 * Length of the component at `at` if it ends with a NUL before `most` bytes; 0 for no
 * component, one that is followed by a slash, and one that is longer.
 */
static __always_inline u32 component_length(const u8 *at, u32 most)
{
	u64 word, ends, hits;
	u32 i;

	for (i = 0; i < most; i += COSY_WORD) {
		word = load_unaligned_zeropad(at + i);
		ends = cosy_zeroes(word);
		hits = ends | cosy_zeroes(word ^ '/' * COSY_ONES);
		if (hits) {
			i += cosy_first_byte(hits);
			return ends & hits & -hits && i < most ? i : 0;
		}
	}
	return 0;
}

/*
 * The name at user address `address`, in place when it is in the shared buffer.  There
 * it may change at any time: that finds, at worst, another name of the same directory.
 */
static __always_inline bool name_get(struct cosy_activation *run, u64 address, u8 *copy,
				     struct qstr *ret)
{
	const struct cosy_prog *prog = run->prog;
	u64 offset = address - prog->buffer_address;
	long length;

	if (likely(offset < prog->buffer_size)) {
		offset &= prog->buffer_size - 1;
		ret->name = prog->buffer + offset;
		length = component_length(ret->name,
					  min_t(u64, prog->buffer_size - offset, NAME_MAX + 1));
	} else {
		length = strncpy_from_user(copy, u64_to_user_ptr(address), NAME_MAX + 1);
		if (unlikely(length < 0)) {
			cosy_guard_failed(run, COSY_GUARD_MEMORY);
			return false;
		}
		ret->name = copy;
		length = component_length(copy, min_t(u32, length + 1, NAME_MAX + 1));
	}
	ret->len = length;
	if (unlikely(!cosy_is_component(ret))) {
		cosy_guard_failed(run, COSY_GUARD_NAME);
		return false;
	}
	return true;
}

/* --- Names in the directory's own order ---------------------------------------------------- */

/*
 * Programs ask for the attributes of names in the order in which a directory lists them, and a
 * directory in memory lists them in the order of its list of children.  So the entry found last
 * is kept, and the next name is first compared with its neighbours: no hash, no chain.  From the
 * second call in a row on, since what is kept costs to drop where an ordinary call comes between.
 *
 * The entry is a reference, but none to its mount: it is kept only while the directory is open
 * by a table of descriptors that nobody shares, since then it stays open until the task itself
 * makes an ordinary call, before which everything is dropped.
 */

/* Look-ups in a row without a neighbour, after which none is looked for until all is dropped. */
#define MAX_STRANGERS 8

void cosy_child_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_CHILD))
		return;
	run->held &= ~COSY_HELD_CHILD;
	dput(run->child);
}

/* Whether the call before this one was a stat by name, too. */
static __always_inline bool is_stat_in_a_row(struct cosy_activation *run)
{
	u64 last = run->stat_call;

	run->stat_call = run->calls;
	return last && run->calls - last <= 1;
}

/* Keeps `child`, the caller's reference, in place of the one before it. */
static __always_inline void child_keep(struct cosy_activation *run, struct dentry *child)
{
	struct dentry *old = run->child;

	run->child = child;
	if (likely(run->held & COSY_HELD_CHILD)) {
		/* A file system in memory has a reference of its own: not the last one. */
		if (unlikely(!lockref_put_or_lock(&old->d_lockref))) {
			__acquire(&old->d_lock);
			spin_unlock(&old->d_lock);
			dput(old);
		}
		return;
	}
	run->held |= COSY_HELD_CHILD;
	run->backwards = false;
	run->strangers = 0;
}

/* The name of `dentry`, whose lock is held, is `name`, which may change meanwhile. */
static __always_inline bool is_named(const struct dentry *dentry, const struct qstr *name)
{
	const u8 *a = dentry->d_name.name, *b = name->name;
	int left = name->len;

	if (dentry->d_name.len != name->len)
		return false;
	for (; left >= (int)COSY_WORD; left -= COSY_WORD, a += COSY_WORD, b += COSY_WORD) {
		if (*(const u64 *)a != load_unaligned_zeropad(b))
			return false;
	}
	/* Names of entries are aligned and have room up to a whole word. */
	return left <= 0 ||
	       !((read_word_at_a_time(a) ^ load_unaligned_zeropad(b)) << (64 - 8 * left));
}

/* A reference to `next`, a child of a directory whose lock is held, if it is `name`. */
static __always_inline bool neighbour_get(struct dentry *next, const struct qstr *name)
{
	bool found;

	if (!next)
		return false;
	spin_lock_nested(&next->d_lock, DENTRY_D_LOCK_NESTED);
	found = !d_unhashed(next) && is_named(next, name);
	if (likely(found))
		dget_dlock(next);
	spin_unlock(&next->d_lock);
	return found;
}

/* A reference to the neighbour of the entry found last, if it is `name`. */
static __always_inline struct dentry *next_child(struct cosy_activation *run, struct dentry *dir,
						 const struct qstr *name)
{
	struct dentry *next = NULL;
	int i;

	if (!(run->held & COSY_HELD_CHILD) || READ_ONCE(run->child->d_parent) != dir ||
	    run->strangers >= MAX_STRANGERS)
		return NULL;
	spin_lock(&dir->d_lock);
	if (likely(run->child->d_parent == dir && cosy_dentry_has_siblings(run->child))) {
		for (i = 0; i < 2; i++) {
			next = run->backwards ? cosy_dentry_before(dir, run->child)
					      : cosy_dentry_after(dir, run->child);
			if (likely(neighbour_get(next, name)))
				break;
			next = NULL;
			run->backwards = !run->backwards;
		}
	}
	spin_unlock(&dir->d_lock);
	run->strangers = next ? 0 : run->strangers + 1;
	return next;
}

/* A reference to the entry `name` of `dir`, if the cache has it and it needs no more care. */
static __always_inline struct dentry *child_get(struct cosy_activation *run, struct dentry *dir,
						struct qstr *name, bool follow)
{
	struct dentry *child;
	enum cosy_guard failed;
	u32 flags;

	if (unlikely(dir->d_flags & (DCACHE_OP_HASH | DCACHE_OP_COMPARE))) {
		cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
		return NULL;
	}
	child = next_child(run, dir, name);
	if (!child) {
		name->hash = full_name_hash(dir, name->name, name->len);
		child = d_lookup(dir, name);
	}
	if (unlikely(!child)) {
		cosy_guard_failed(run, COSY_GUARD_CACHED);
		return NULL;
	}
	flags = READ_ONCE(child->d_flags);
	if (unlikely(flags & (DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE)))
		failed = COSY_GUARD_PLAIN_DENTRY;
	else if (unlikely(d_is_negative(child)))
		failed = COSY_GUARD_CACHED;
	else if (unlikely(follow && d_is_symlink(child)))
		failed = COSY_GUARD_NAME;
	else
		return child;
	dput(child);
	cosy_guard_failed(run, failed);
	return NULL;
}

static __always_inline s64 stat_child(struct cosy_activation *run, const struct path *dir,
				      struct qstr *name, u8 *to, s32 flags, bool more, bool stays)
{
	struct path path = {
		.mnt = dir->mnt,
		.dentry = child_get(run, dir->dentry, name, !(flags & AT_SYMLINK_NOFOLLOW)),
	};
	int error;

	if (unlikely(!path.dentry))
		return COSY_ORDINARY;
	error = cosy_attributes(run, &path, flags | AT_NO_AUTOMOUNT, to, more);
	if (more && stays)
		child_keep(run, path.dentry);
	else
		dput(path.dentry);
	return error;
}

s64 cosy_stat_child(struct cosy_activation *run, const struct path *dir, struct qstr *name, u8 *to,
		    s32 flags)
{
	return stat_child(run, dir, name, to, flags, true, true);
}

static __always_inline s64 stat_under(struct cosy_activation *run, const struct path *dir,
				      u64 address, u64 to, s32 flags, bool stays)
{
	u8 copy[NAME_MAX + 1] __aligned(COSY_WORD) __cosy_uninitialized;
	u8 *at = cosy_reach(run, to, COSY_STAT_SIZE);
	struct qstr name;
	int error;

	if (unlikely(!at))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	if (!name_get(run, address, copy, &name))
		return COSY_ORDINARY;
	if (unlikely(!d_can_lookup(dir->dentry)))
		return cosy_guard_failed(run, COSY_GUARD_NAME);
	error = cosy_may_search(dir);
	if (unlikely(error))
		return error;
	return stat_child(run, dir, &name, at, flags, is_stat_in_a_row(run), stays);
}

s64 cosy_stat_under(struct cosy_activation *run, const struct path *dir, u64 address, u64 to,
		    s32 flags, bool stays)
{
	return stat_under(run, dir, address, to, flags, stays);
}

static noinline s64 stat_in_pwd(struct cosy_activation *run, u64 name, u64 to, s32 flags)
{
	struct path pwd;
	s64 result;

	get_fs_pwd(current->fs, &pwd);
	result = cosy_stat_under(run, &pwd, name, to, flags, false);
	path_put(&pwd);
	return result;
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

/* Flags that change the way: with AT_EMPTY_PATH alone and no name it is fstat. */
static noinline s64 stat_special(struct cosy_activation *run, s32 dirfd, u64 name, u64 to,
				 s32 flags)
{
	u8 first;

	if (flags == AT_EMPTY_PATH && dirfd >= 0 && name && !get_user(first, (u8 __user *)name) &&
	    !first)
		return stat_open(run, dirfd, to);
	return cosy_guard_failed(run, COSY_GUARD_LIMITED);
}

static __always_inline s64 stat_at(struct cosy_activation *run, s32 dirfd, u64 name, u64 to,
				   s32 flags)
{
	struct fd fd;
	s64 result;

	if (unlikely(flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)))
		return stat_special(run, dirfd, name, to, flags);
	if (dirfd == AT_FDCWD)
		return stat_in_pwd(run, name, to, flags);
	/* Not descriptors that are paths alone (O_PATH): those are left to the ordinary call. */
	fd = fdget(dirfd);
	if (likely(fd_file(fd)))
		result = stat_under(run, &fd_file(fd)->f_path, name, to, flags,
				    cosy_fd_is_borrowed(fd));
	else
		result = cosy_guard_failed(run, COSY_GUARD_NAME);
	fdput(fd);
	return result;
}

/* Attributes are any file system's, and those of remote ones are interrupted by signals. */

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
