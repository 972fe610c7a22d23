/* SPDX-License-Identifier: GPL-2.0 */
/*
 * next.h - the name that comes next to the one before it, without a look-up.  In line: see
 * lookup.h.
 */
#ifndef COSY_NEXT_H
#define COSY_NEXT_H

#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/uaccess.h>
#include <asm/word-at-a-time.h>
#include "fast/child.h"
#include "fast/lookup.h"
#include "fast/permission.h"
#include "memory/access.h"
#include "memory/reach.h"

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

/* Does so for a name that cosy_reach has found, in user memory or not. */
static __always_inline bool cosy_memory_name_is(const u8 *a, const u8 *b, int length, bool user)
{
	return user ? cosy_user_name_is(a, b, length) : cosy_name_is(a, b, length);
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
		     !cosy_memory_name_is(next->d_name.name, at, next->d_name.len + 1, user)))
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

/* Returns whether the entry that cosy_next_named gave still has its name, with nothing mounted on it. */
static __always_inline bool cosy_next_stayed(const struct dentry *next, unsigned int seq)
{
	/* Mounting on an entry leaves the counter as it is. */
	return !read_seqcount_retry(&next->d_seq, seq) &&
	       !(READ_ONCE(next->d_flags) & DCACHE_MANAGED_DENTRY);
}

/*
 * Does what cosy_find_next does for a name of several components in the current directory, all but
 * the last of which are those of the name before it.
 */
s64 cosy_find_next_below(struct cosy_activation *run, u64 address, bool follow, bool again);

/*
 * Finds what cosy_find would find where the name comes next to the one before it, in the same
 * directory.  0 and the entry in run->names.child, without a reference for the caller; an error
 * that is the call's; or COSY_ORDINARY, and the caller asks cosy_find.
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

	if (unlikely(!(run->held & COSY_HELD_CHILD) ||
		     (!again && run->names.strangers >= COSY_MAX_STRANGERS) ||
		     (dirfd == AT_FDCWD && !cosy_pwd_is_kept(run))))
		return COSY_ORDINARY;
	if (run->names.child_dirfd != dirfd) {
		if (dirfd == AT_FDCWD && run->names.child_dirfd == COSY_NO_DIRFD)
			return cosy_find_next_below(run, address, follow, again);
		return COSY_ORDINARY;
	}
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
	cosy_names_note(run);
	error = cosy_may_search(run->names.child_dir);
	if (unlikely(error))
		return error;
	return likely(cosy_next_stayed(next, seq)) ? 0 : COSY_ORDINARY;
}

/*
 * Does cosy_find_next for a call whose name may be that of the entry found last, as in stat and
 * then open, or the one next to it.  It begins with what was right at the last such call.
 */
s64 cosy_find_near(struct cosy_activation *run, s32 dirfd, u64 address, bool follow);

/*
 * Finds the file of a name, near the last one or by the whole path, and returns the result of `use`
 * for it.  An error or COSY_ORDINARY: it was not found, and `use` not called.
 */
static __always_inline s64 cosy_use_named(
	struct cosy_activation *run, s32 dirfd, u64 address, bool follow,
	s64 (*use)(struct cosy_activation *run, const struct path *path, void *with), void *with)
{
	struct cosy_found found __cosy_uninitialized;
	s64 result = cosy_find_near(run, dirfd, address, follow);

	if (likely(!result))
		return use(run, &run->names.child, with);
	if (result != COSY_ORDINARY)
		return result;
	result = cosy_find(run, dirfd, address, follow, true, &found);
	if (unlikely(result))
		return result;
	result = use(run, &found.path, with);
	cosy_found_put(run, dirfd, &found);
	return result;
}

#endif /* COSY_NEXT_H */
