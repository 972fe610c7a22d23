// SPDX-License-Identifier: GPL-2.0
/* next.c - see next.h. */
#include "fast/next.h"
#include "fast/prefix.h"

/*
 * Look-ups in a row without a neighbour after which names below directories are looked up at once:
 * a comparison in vain costs more here, and a look-up that finds a neighbour begins anew.
 */
#define MAX_STRANGERS_BELOW 2

s64 cosy_find_next_below(struct cosy_activation *run, u64 address, bool follow, bool again)
{
	const u8 *at = cosy_reach(run, address, COSY_PREFIX_TEXT + COSY_NAME_ROOM);
	struct dentry *next;
	struct path dir;
	unsigned int seq;
	u32 length;
	s64 error;
	bool user;

	if (unlikely(!at || (!again && run->names.strangers >= MAX_STRANGERS_BELOW)))
		return COSY_ORDINARY;
	user = cosy_reached_user(at, address);
	length = cosy_prefix_begins(run, &run->names.pwd, at, user);
	if (!length)
		return COSY_ORDINARY;
	cosy_prefix_end(run, &dir);
	next = cosy_next_named(run, dir.dentry, at + length, user, again, &seq);
	if (unlikely(!next))
		return COSY_ORDINARY;
	if (unlikely(cosy_child_refused(next, follow) != COSY_GUARDS_HOLD)) {
		if (!again)
			dput(next);
		return COSY_ORDINARY;
	}
	if (!again) {
		cosy_child_keep(run, dir.mnt, next);
		run->names.strangers = 0;
	}
	/* The entry found last may be of another mount of the same directory. */
	run->names.child.mnt = dir.mnt;
	cosy_names_note(run);
	error = cosy_prefix_again(run);
	if (unlikely(error))
		return error;
	return cosy_next_stayed(next, seq) ? 0 : COSY_ORDINARY;
}

s64 cosy_find_near(struct cosy_activation *run, s32 dirfd, u64 address, bool follow)
{
	bool again = run->names.repeats;
	s64 result;

	if (!(run->held & COSY_HELD_CHILD))
		return COSY_ORDINARY;
	result = cosy_find_next(run, dirfd, address, follow, again);
	if (likely(result != COSY_ORDINARY))
		return result;
	result = cosy_find_next(run, dirfd, address, follow, !again);
	if (result != COSY_ORDINARY)
		run->names.repeats = !again;
	return result;
}
