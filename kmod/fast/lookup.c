// SPDX-License-Identifier: GPL-2.0
/* lookup.c - what is kept of names: dropping it.  See lookup.h. */
#include "fast/lookup.h"

void cosy_child_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_CHILD))
		return;
	run->held &= ~COSY_HELD_CHILD;
	dput(run->child);
}

void cosy_pwd_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_PWD))
		return;
	/* Entries may be of this mount, to which they have no reference. */
	cosy_child_drop(run);
	cosy_prefix_drop(run);
	run->held &= ~COSY_HELD_PWD;
	path_put(&run->pwd);
}
