/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lookup.h - from a name to its entry in the directory cache.
 *
 * lookup.c follows all but the last component of a name of several.  For the last, or the only
 * one, this is what the path walk does, in its order: the directory, the name from the user's
 * memory, the permission to search (with the security module's say), the directory cache.  All
 * else that the walk knows is left to the ordinary call: dots, links to follow, mounts,
 * automounts, hashes and comparisons of the file system's own, names that may have become stale.
 * That a name is not there is the answer where the cache is sure of it.
 *
 * The look-up, and the check whether its entry is mounted on, are two steps, as in the kernel's
 * walk: each call's result is one that it could have had there.
 *
 * In line, since these are the main path of every call that is given a name.
 */
#ifndef COSY_LOOKUP_H
#define COSY_LOOKUP_H

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/limits.h>
#include <linux/stringhash.h>
#include <asm/word-at-a-time.h>
#include "compat/compat.h"
#include "fast/guard.h"
#include "fast/permission.h"
#include "memory/access.h"
#include "memory/reach.h"

/*
 * Tells whether a name is one of an entry: neither empty nor too long, and neither one dot nor
 * two.
 */
static inline bool cosy_is_component(const struct qstr *name)
{
	return name->len - 1 < NAME_MAX &&
	       (likely(READ_ONCE(name->name[0]) != '.') ||
		(name->len > 1 && (name->len > 2 || READ_ONCE(name->name[1]) != '.')));
}

/*
 * Returns the length of the component at `at` if it ends with a NUL within `max` bytes; 0 for no
 * component, one that is followed by a slash, and one that is longer.
 */
static __always_inline u32 cosy_component_length(const u8 *at, u32 max)
{
	u64 word, ends, hits;
	u32 i;

	for (i = 0; i < max; i += COSY_WORD) {
		word = load_unaligned_zeropad(at + i);
		ends = cosy_zeroes(word);
		hits = ends | cosy_zeroes(word ^ '/' * COSY_ONES);
		if (hits) {
			i += cosy_first_byte(hits);
			return ends & hits & -hits && i < max ? i : 0;
		}
	}
	return 0;
}

/*
 * Gets the name at user address `address`: in place when it is in the shared buffer, else by
 * `copy`, of which `*copied` is the length, or a negative errno; 0: there is no copy.  In place it
 * may change at any time: what is found then is another name of the same directory, but that
 * nothing is found says nothing (cosy_missing_again).  False, with
 * no guard counted: it is not one component, or cannot be read.
 */
static __always_inline bool cosy_name_get(struct cosy_activation *run, u64 address, u8 *copy,
					  long *copied, struct qstr *ret)
{
	const struct cosy_program *prog = run->prog;
	u64 offset = cosy_buffer_offset(prog, address);
	u32 length;

	*copied = 0;

	if (likely(cosy_buffer_has_byte(prog, offset))) {
		offset = cosy_buffer_mask(prog, offset);
		ret->name = prog->buffer + offset;
		length = cosy_component_length(ret->name, min_t(u64, prog->buffer_size - offset,
								NAME_MAX + 1));
	} else {
		*copied = strncpy_from_user(copy, u64_to_user_ptr(address), NAME_MAX + 1);
		if (unlikely(*copied < 0))
			return false;
		ret->name = copy;
		length = cosy_component_length(copy, min_t(u32, *copied + 1, NAME_MAX + 1));
	}
	ret->len = length;
	return likely(cosy_is_component(ret));
}

/* --- Names in the directory's own order ---------------------------------------------------- */

/*
 * Programs ask for the attributes of names in the order in which a directory lists them, and a
 * directory in memory lists them in the order of its list of children.  So the entry found last is
 * kept, and the next name is first compared with its neighbours: no hash, no chain.  It is kept
 * from the second call in a row on, since an ordinary call in between drops it, which costs.
 *
 * The entry is a reference, but none to its mount.  So it is kept only while the directory is open
 * by a table of descriptors that nobody shares: then it stays open until the task itself makes an
 * ordinary call, before which everything is dropped.
 */

/*
 * After so many look-ups in a row that find no neighbour, none is looked for until all is dropped.
 */
#define COSY_MAX_STRANGERS 8

/* Starts a RUN, in which there was no call by name yet. */
static inline void cosy_names_init(struct cosy_names *names)
{
	names->last_call = 0;
}

/* Drops the entry found last: part of cosy_held_drop. */
void cosy_child_drop(struct cosy_activation *run);

/*
 * Adds `more` to a count that is `least` or more, if nobody holds its lock, as lockref_get and
 * lockref_put_not_zero do, but in line.  False: nothing is done.
 */
static __always_inline bool cosy_lockref_add(struct lockref *ref, int least, int more)
{
#if USE_CMPXCHG_LOCKREF
	struct lockref old, new;

	old.lock_count = READ_ONCE(ref->lock_count);
	if (likely(arch_spin_value_unlocked(old.lock.rlock.raw_lock) && old.count >= least)) {
		new = old;
		new.count += more;
		return try_cmpxchg64(&ref->lock_count, &old.lock_count, new.lock_count);
	}
#endif
	return false;
}

/* Keeps `child`, the caller's reference, in place of the entry kept before. */
static __always_inline void cosy_child_keep(struct cosy_activation *run, struct vfsmount *mnt,
					    struct dentry *child)
{
	struct dentry *old = run->names.child.dentry;

	run->names.child.dentry = child;
	run->names.child.mnt = mnt;
	if (likely(run->held & COSY_HELD_CHILD)) {
		/* Not the last reference, since a file system in memory has one of its own. */
		if (unlikely(!cosy_lockref_add(&old->d_lockref, 2, -1)))
			dput(old);
		return;
	}
	run->held |= COSY_HELD_CHILD;
	run->names.backwards = false;
	run->names.strangers = 0;
	run->names.child_dirfd = COSY_NO_DIRFD;
}

/*
 * Tells whether the first `length` bytes at `b`, which may change meanwhile, are those of an
 * entry's name, at `a`.  That is aligned and has room up to a whole word.
 */
static __always_inline bool cosy_name_is(const u8 *a, const u8 *b, int length)
{
	for (; length >= (int)COSY_WORD; length -= COSY_WORD, a += COSY_WORD, b += COSY_WORD) {
		if (*(const u64 *)a != load_unaligned_zeropad(b))
			return false;
	}
	return length <= 0 ||
	       !((read_word_at_a_time(a) ^ load_unaligned_zeropad(b)) << (64 - 8 * length));
}

/* Tells whether `dentry`, whose lock or whose parent's is held, has the name `name`. */
static __always_inline bool cosy_entry_is(const struct dentry *dentry, const struct qstr *name)
{
	return dentry->d_name.len == name->len &&
	       cosy_name_is(dentry->d_name.name, name->name, name->len);
}

/*
 * Takes a reference to `entry`, a child of a directory whose lock is held, unless it has gone.
 * That lock keeps its name and its parent, and its memory, as they are.
 */
static __always_inline bool cosy_entry_get(struct dentry *entry)
{
	bool found;

	/* A count below 0 is of an entry that is being freed. */
	if (likely(!d_unhashed(entry) && cosy_lockref_add(&entry->d_lockref, 0, 1)))
		return true;
	spin_lock_nested(&entry->d_lock, DENTRY_D_LOCK_NESTED);
	found = !d_unhashed(entry);
	if (found)
		dget_dlock(entry);
	spin_unlock(&entry->d_lock);
	return found;
}

/* Returns the neighbour of the entry found last, or NULL.  The lock of `dir` is held. */
static __always_inline struct dentry *cosy_neighbour(const struct cosy_activation *run,
						     struct dentry *dir)
{
	struct dentry *child = run->names.child.dentry;

	if (unlikely(child->d_parent != dir || !cosy_dentry_has_siblings(child)))
		return NULL;
	return run->names.backwards ? cosy_dentry_before(dir, child)
				    : cosy_dentry_after(dir, child);
}

/* Returns a reference to a neighbour of the entry found last, if that is `name`; else NULL. */
static __always_inline struct dentry *cosy_next_child(struct cosy_activation *run,
						      struct dentry *dir, const struct qstr *name)
{
	struct dentry *next = NULL;
	int i;

	if (!(run->held & COSY_HELD_CHILD) || READ_ONCE(run->names.child.dentry->d_parent) != dir ||
	    run->names.strangers >= COSY_MAX_STRANGERS)
		return NULL;
	spin_lock(&dir->d_lock);
	for (i = 0; i < 2; i++) {
		next = cosy_neighbour(run, dir);
		/* That there is no such file is d_lookup's to say. */
		if (likely(next && cosy_entry_is(next, name) && !data_race(d_is_negative(next)) &&
			   cosy_entry_get(next)))
			break;
		next = NULL;
		run->names.backwards = !run->names.backwards;
	}
	spin_unlock(&dir->d_lock);
	run->names.strangers = next ? 0 : run->names.strangers + 1;
	return next;
}

/* Returns a reference to the entry found last, if that is `name`; else NULL. */
static __always_inline struct dentry *cosy_same_child(struct cosy_activation *run,
						      struct dentry *dir, const struct qstr *name)
{
	struct dentry *child = run->names.child.dentry;
	bool found;

	if (!(run->held & COSY_HELD_CHILD))
		return NULL;
	spin_lock(&child->d_lock);
	found = child->d_parent == dir && !d_unhashed(child) && cosy_entry_is(child, name);
	if (likely(found))
		dget_dlock(child);
	spin_unlock(&child->d_lock);
	return found ? child : NULL;
}

/*
 * Returns the guard that fails for an entry that was found, if any: whether something may be
 * mounted on it, say, is asked once it is found, as in the kernel's walk.
 */
static __always_inline enum cosy_guard cosy_child_refused(const struct dentry *child, bool follow)
{
	if (unlikely(READ_ONCE(child->d_flags) & (DCACHE_MANAGED_DENTRY | DCACHE_OP_REVALIDATE)))
		return COSY_GUARD_PLAIN_DENTRY;
	if (unlikely(data_race(d_is_negative(child))))
		return COSY_GUARD_CACHED;
	if (unlikely(follow && data_race(d_is_symlink(child))))
		return COSY_GUARD_NAME;
	return COSY_GUARDS_HOLD;
}

/*
 * Answers for a name that d_lookup did not find in `dir`, which looks again where something was
 * renamed meanwhile.  -ENOENT where each entry of the directory is in the cache, as in file systems
 * in memory: simple_lookup would say so, too, after it has made an entry for the missing name and
 * dropped it again.  Else COSY_ORDINARY, with a guard counted.
 */
static __always_inline s64 cosy_not_cached(struct cosy_activation *run, const struct dentry *dir)
{
	if (d_inode(dir)->i_op->lookup == simple_lookup)
		return -ENOENT;
	return cosy_guard_failed(run, COSY_GUARD_CACHED);
}

/*
 * Finds the entry `name` of `dir`, if the cache knows of it and it needs no more care.  0 and a
 * reference in `*ret`; -ENOENT: there is none; or COSY_ORDINARY, with a guard counted.  With
 * `again` it is likely to be the one found last.
 */
static __always_inline s64 cosy_child_get(struct cosy_activation *run, struct dentry *dir,
					  struct qstr *name, bool follow, bool again,
					  struct dentry **ret)
{
	struct dentry *child;
	enum cosy_guard failed;

	if (unlikely(READ_ONCE(dir->d_flags) & (DCACHE_OP_HASH | DCACHE_OP_COMPARE)))
		return cosy_guard_failed(run, COSY_GUARD_PLAIN_DENTRY);
	child = again ? cosy_same_child(run, dir, name) : NULL;
	if (!child)
		child = cosy_next_child(run, dir, name);
	if (!child) {
		name->hash = full_name_hash(dir, name->name, name->len);
		child = d_lookup(dir, name);
	}
	if (unlikely(!child))
		return cosy_not_cached(run, dir);
	failed = cosy_child_refused(child, follow);
	if (likely(failed == COSY_GUARDS_HOLD)) {
		*ret = child;
		return 0;
	}
	dput(child);
	/* The cache has that there is no such file. */
	if (failed == COSY_GUARD_CACHED)
		return -ENOENT;
	return cosy_guard_failed(run, failed);
}

/* --- From the call's arguments --------------------------------------------------------- */

/* The entry that a name led to, until cosy_found_put. */
struct cosy_found {
	struct path path; /* of the entry; the reference to its mount is the directory's */
	const struct path *dir;
	struct fd fd;	 /* the directory's, if it was given by a descriptor */
	struct path pwd; /* ... or the current directory, if that is not kept */
	bool more;	 /* the call before this one was given a name, too */
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

/* Drops the entries that such names have led to: part of cosy_held_drop. */
void cosy_prefix_drop(struct cosy_activation *run);

/* Tells whether all directories on the way are unchanged. */
bool cosy_prefix_holds(const struct cosy_activation *run);

/* Tells whether the directory that is kept is still the current one. */
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
static noinline s64 cosy_missing_again(struct cosy_activation *run, const struct cosy_found *found,
				       struct qstr *name, u8 *copy, bool follow,
				       struct dentry **ret)
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

/*
 * Finds the entry that the call's `dirfd` and the name at `address` lead to.  0 and `*ret`, an
 * error that is the call's, or COSY_ORDINARY.  `again`: several such calls about one name are
 * likely.
 */
static __always_inline s64 cosy_find(struct cosy_activation *run, s32 dirfd, u64 address,
				     bool follow, bool again, struct cosy_found *ret)
{
	u8 copy[NAME_MAX + 1] __aligned(COSY_WORD) __cosy_uninitialized;
	struct qstr name;
	long copied;
	s64 result;

	ret->more = run->names.last_call && run->calls - run->names.last_call <= 1;
	run->names.last_call = run->calls;
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
	if (unlikely(!cosy_name_get(run, address, copy, &copied, &name))) {
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
	result = cosy_child_get(run, ret->dir->dentry, &name, follow, again, &ret->path.dentry);
	if (unlikely(result == -ENOENT))
		result = cosy_missing_again(run, ret, &name, copy, follow, &ret->path.dentry);
	if (likely(!result))
		return 0;
out:
	cosy_directory_put(dirfd, ret);
	return result;
}

static __always_inline void cosy_found_put(struct cosy_activation *run, s32 dirfd,
					   struct cosy_found *found)
{
	if (found->more && found->stays) {
		cosy_child_keep(run, found->path.mnt, found->path.dentry);
		run->names.child_dirfd =
			found->dir == &run->names.prefix.dir ? COSY_NO_DIRFD : dirfd;
		run->names.child_dir = found->dir;
	} else {
		dput(found->path.dentry);
	}
	cosy_directory_put(dirfd, found);
}

/* --- The next name -------------------------------------------------------------------------- */

/*
 * The entry that cosy_next_named supposes: the neighbour of the one found last, or, with `again`,
 * that itself.  The lock of `dir` is held.
 */
static __always_inline struct dentry *cosy_supposed(const struct cosy_activation *run,
						    struct dentry *dir, bool again)
{
	if (!again)
		return cosy_neighbour(run, dir);
	return likely(run->names.child.dentry->d_parent == dir) ? run->names.child.dentry : NULL;
}

/* Bytes that comparing a name with its NUL may look at, by whole words. */
#define COSY_NAME_ROOM (NAME_MAX + 1 + COSY_WORD)

/* Does cosy_name_is for a name in user memory; false as well where that is not there now. */
static __always_inline bool cosy_user_name_is(const u8 *a, const u8 *b, int length)
{
	u64 last = 0, differ = 0;
	int fault = 0;

	if (length % COSY_WORD)
		last = read_word_at_a_time(a + length / COSY_WORD * COSY_WORD);

	/* A lock is held. */
	pagefault_disable();
	cosy_access_begin();
	for (; length >= (int)COSY_WORD && !differ;
	     length -= COSY_WORD, a += COSY_WORD, b += COSY_WORD)
		differ = *(const u64 *)a ^ cosy_peek_word(b, &fault);
	if (length > 0 && !differ)
		differ = (last ^ cosy_peek_word(b, &fault)) << (64 - 8 * length);
	cosy_access_end();
	pagefault_enable();
	return !differ && !fault;
}

/*
 * Returns the supposed entry of `dir` if it has the name at `at`, which cosy_reach has bounded, in
 * user memory or not; and `*seq`, of which read_seqcount_retry tells whether it still has.  With a
 * reference, unless it is `again` the one found last; else NULL, and nothing done.  The name is
 * compared with its NUL, so nobody needs its length, and no name of an entry is empty, dots, or
 * has a slash.
 */
static __always_inline struct dentry *cosy_next_named(struct cosy_activation *run,
						      struct dentry *dir, const u8 *at, bool user,
						      bool again, unsigned int *seq)
{
	struct dentry *next;

	spin_lock(&dir->d_lock);
	next = cosy_supposed(run, dir, again);
	if (unlikely(!next ||
		     !(user ? cosy_user_name_is(next->d_name.name, at, next->d_name.len + 1)
			    : cosy_name_is(next->d_name.name, at, next->d_name.len + 1))))
		goto none;
	*seq = raw_read_seqcount(&next->d_seq);
	if (unlikely(!(again ? !d_unhashed(next) : cosy_entry_get(next))))
		goto none;
	spin_unlock(&dir->d_lock);
	return next;

none:
	spin_unlock(&dir->d_lock);
	return NULL;
}

/*
 * Finds what cosy_find would find where the name comes next to the one before it, in the same
 * directory.  0 and the entry in run->names.child, without a reference for the caller; an error that is
 * the call's; or COSY_ORDINARY, and the caller asks cosy_find.
 *
 * The permission to search is asked for when the entry is known, so that it is asked for once.
 * The entry's sequence counter then says whether it was still there when it was given, and its
 * flags whether it is still not mounted on.
 */
static __always_inline s64 cosy_find_next(struct cosy_activation *run, s32 dirfd, u64 address,
					  bool follow, bool again)
{
	struct dentry *next;
	unsigned int seq;
	const u8 *at;
	int error;

	if (unlikely(!(run->held & COSY_HELD_CHILD) || run->names.child_dirfd != dirfd ||
		     (!again && run->names.strangers >= COSY_MAX_STRANGERS) ||
		     (dirfd == AT_FDCWD && !cosy_pwd_is_kept(run))))
		return COSY_ORDINARY;
	at = cosy_reach(run, address, COSY_NAME_ROOM);
	if (unlikely(!at))
		return COSY_ORDINARY;
	next = cosy_next_named(run, run->names.child_dir->dentry, at,
			       cosy_reached_user(at, address), again, &seq);
	if (unlikely(!next))
		return COSY_ORDINARY;
	if (unlikely(cosy_child_refused(next, follow) != COSY_GUARDS_HOLD)) {
		if (!again)
			dput(next);
		return COSY_ORDINARY;
	}
	if (!again) {
		cosy_child_keep(run, run->names.child.mnt, next);
		run->names.strangers = 0;
	}
	run->names.last_call = run->calls;
	error = cosy_may_search(run->names.child_dir);
	if (unlikely(error))
		return error;
	if (unlikely(read_seqcount_retry(&next->d_seq, seq)))
		return COSY_ORDINARY;
	/* Mounting on an entry leaves the counter as it is. */
	if (unlikely(READ_ONCE(next->d_flags) & DCACHE_MANAGED_DENTRY))
		return COSY_ORDINARY;
	return 0;
}

#endif /* COSY_LOOKUP_H */
