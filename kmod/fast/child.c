// SPDX-License-Identifier: GPL-2.0
/* child.c - see child.h. */
#include "fast/child.h"
#include "run/activation.h"

void cosy_child_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_CHILD))
		return;
	run->held &= ~COSY_HELD_CHILD;
	dput(run->names.child.dentry);
}
