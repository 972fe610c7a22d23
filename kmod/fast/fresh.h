/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fresh.h - guard FRESH: file systems whose error state was just observed by an ordinary call.
 *
 * A file system may shut down and then refuse every read, without a sign in its files.  So the page
 * cache of a file system is used only if an ordinary read of it succeeded in this RUN, after its
 * last safepoint and the last call that slept, or in an earlier RUN in the jiffy in which this one
 * began.  If that does not hold, the check notes the file system, and the ordinary call that
 * follows makes it hold.
 */
#ifndef COSY_FRESH_H
#define COSY_FRESH_H

#include <linux/sched.h>
#include "fast/guard.h"
#include "fast/state.h"

/* Checks guard FRESH: returns it, or COSY_GUARDS_HOLD. */
static inline enum cosy_guard cosy_fresh_check(struct cosy_fresh *fresh,
					       const struct super_block *sb)
{
	if (likely(fresh->sleeps == current->nvcsw) &&
	    (likely(fresh->read[0] == sb) || fresh->read[1] == sb))
		return COSY_GUARDS_HOLD;
	fresh->wanted = sb;
	fresh->wanted_to_write = false;
	return COSY_GUARD_FRESH;
}

/*
 * Checks the same for writes, which an ordinary write makes hold: since Linux 6.16 a file system
 * in error may let reads succeed and refuse writes, without a sign that others can see.
 */
static inline enum cosy_guard cosy_fresh_check_to_write(struct cosy_fresh *fresh,
							const struct super_block *sb)
{
	if (likely(fresh->sleeps == current->nvcsw) && likely(fresh->write == sb))
		return COSY_GUARDS_HOLD;
	fresh->wanted = sb;
	fresh->wanted_to_write = true;
	return COSY_GUARD_FRESH;
}

/*
 * Ends a failed guard FRESH, if fresh->wanted says that there was one: the ordinary read or
 * write of that file system returned `result`.  No error: the file system is fresh.
 */
void cosy_fresh_end(struct cosy_fresh *fresh, struct cosy_fresh_shared *shared, s64 result);

/* Takes all file systems for changed, in this RUN. */
void cosy_fresh_forget(struct cosy_fresh *fresh);

/* Starts a RUN: file systems that were made fresh in this jiffy still are. */
void cosy_fresh_init(struct cosy_fresh *fresh, const struct cosy_fresh_shared *shared);

#endif /* COSY_FRESH_H */
