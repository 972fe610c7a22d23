// SPDX-License-Identifier: GPL-2.0
/* next.c - see next.h. */
#include "fast/next.h"

s64 cosy_find_near(struct cosy_activation *run, s32 dirfd, u64 address, bool follow)
{
	bool again = run->names.repeats;
	s64 result;

	if (!(run->held & COSY_HELD_CHILD) || run->names.child_dirfd != dirfd)
		return COSY_ORDINARY;
	result = cosy_find_next(run, dirfd, address, follow, again);
	if (likely(result != COSY_ORDINARY))
		return result;
	result = cosy_find_next(run, dirfd, address, follow, !again);
	if (result != COSY_ORDINARY)
		run->names.repeats = !again;
	return result;
}
