// SPDX-License-Identifier: GPL-2.0
/*
 * lookup.c - drops the state that lookup.h keeps: the last entry, the directories where names
 * begin.
 */
#include "fast/lookup.h"

void cosy_child_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_CHILD))
		return;
	run->held &= ~COSY_HELD_CHILD;
	dput(run->child.dentry);
}

void cosy_pwd_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_PWD))
		return;
	/*
	 * Entries that are kept may be of this mount without a reference to it, so they go first.
	 * The file system may go with it, so its agreement (COSY_HELD_AGREED), which is known by
	 * the super block's address, goes as well.
	 */
	cosy_child_drop(run);
	cosy_prefix_drop(run);
	run->held &= ~(COSY_HELD_PWD | COSY_HELD_AGREED);
	path_put(&run->pwd);
}

void cosy_root_drop(struct cosy_activation *run)
{
	if (!(run->held & COSY_HELD_ROOT))
		return;
	cosy_child_drop(run);
	cosy_prefix_drop(run);
	run->held &= ~(COSY_HELD_ROOT | COSY_HELD_AGREED);
	path_put(&run->root);
}
