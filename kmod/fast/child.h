/* SPDX-License-Identifier: GPL-2.0 */
/*
 * child.h - the entry of a name in a directory, from the directory cache.
 *
 * Programs ask for the attributes of names in the order in which a directory lists them, and a
 * directory in memory lists them in the order of its list of children.  So the entry found last is
 * kept, and the next name is first compared with its neighbours: no hash, no chain.  It is kept
 * from the second call in a row on, since an ordinary call in between drops it, which costs.
 *
 * The entry is a reference, but none to its mount.  So it is kept only while the directory is open
 * by a table of descriptors that nobody shares: then it stays open until the task itself makes an
 * ordinary call, before which everything is dropped.
 *
 * In line: see lookup.h.
 */
#ifndef COSY_CHILD_H
#define COSY_CHILD_H

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/stringhash.h>
#include "compat/compat.h"
#include "fast/guard.h"
#include "fast/name.h"

/*
 * After so many look-ups in a row that find no neighbour, none is looked for until all is dropped.
 */
#define COSY_MAX_STRANGERS 8

/* Starts a RUN, in which there was no call by name yet. */
static inline void cosy_names_init(struct cosy_names *names)
{
	names->last_call = 0;
	names->tried = false;
	names->opens = false;
	names->repeats = false;
	names->prefixes = NULL;
}

/* Notes that the call under way is one by name. */
static __always_inline void cosy_names_note(struct cosy_activation *run)
{
	run->names.last_call = run->calls;
	run->names.ordinary = run->calls - run->fast;
}

/*
 * Returns whether it is worth keeping what the call under way finds: the last call by name is the
 * one before it, or no call since has dropped what was kept.  Once in a RUN it is tried anyway.
 */
static __always_inline bool cosy_names_follow(struct cosy_activation *run)
{
	if (!run->names.last_call)
		return false;
	if (likely(run->calls - run->names.last_call <= 1 ||
		   run->calls - run->fast == run->names.ordinary))
		return true;
	if (run->names.tried)
		return false;
	run->names.tried = true;
	return true;
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
 * Returns whether the first `length` bytes at `b`, which may change meanwhile, are those of an
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

/* Returns whether `dentry`, whose lock or whose parent's is held, has the name `name`. */
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
 * Finds the entry `name` of `dir`, if the cache knows of it.  0 and a reference in `*ret`; -ENOENT:
 * there is none; or COSY_ORDINARY, with a guard counted.  If the entry needs more care `*refused` is
 * the guard that fails for it.  With `again` it is likely to be the one found last.
 */
static __always_inline s64 cosy_child_look_up(struct cosy_activation *run, struct dentry *dir,
					      struct qstr *name, bool follow, bool again,
					      struct dentry **ret, enum cosy_guard *refused)
{
	struct dentry *child;

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
	*refused = cosy_child_refused(child, follow);
	if (unlikely(*refused == COSY_GUARD_CACHED)) {
		/* The cache has that there is no such file. */
		dput(child);
		return -ENOENT;
	}
	*ret = child;
	return 0;
}

/* Does cosy_child_look_up for an entry that needs no more care: otherwise COSY_ORDINARY. */
static __always_inline s64 cosy_child_get(struct cosy_activation *run, struct dentry *dir,
					  struct qstr *name, bool follow, bool again,
					  struct dentry **ret)
{
	enum cosy_guard refused;
	s64 result = cosy_child_look_up(run, dir, name, follow, again, ret, &refused);

	if (likely(result || refused == COSY_GUARDS_HOLD))
		return result;
	dput(*ret);
	return cosy_guard_failed(run, refused);
}

#endif /* COSY_CHILD_H */
