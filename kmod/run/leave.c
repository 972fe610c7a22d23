// SPDX-License-Identifier: GPL-2.0
/*
 * leave.c - saves a compound's state to user memory and restores it.
 *
 * No part of the kernel's stack goes to the user. enter.S saves the registers and the part of the
 * spill frame that the program uses, all zeroed at entry; cosy_leave_save fills in the rest.
 */
#include <linux/string.h>
#include <linux/uaccess.h>
#include "run/leave.h"
#include "run/limits.h"

int cosy_leave_save(struct cosy_activation *run, void __user *state)
{
	struct cosy_state *saved = &run->entry.state;
	u64 unused = ARRAY_SIZE(saved->frame) - run->frame_words;

	static_assert(sizeof(*saved) == 8 * (10 + 2 + COSY_FRAME_SIZE / 8 + 2));
	memset(saved->frame, 0, unused * sizeof(*saved->frame));
	saved->sp = run->sp;
	saved->fp = run->fp;
	cosy_limits_stop(run);
	return copy_to_user(state, saved, sizeof(*saved)) ? -EFAULT : 0;
}

int cosy_leave_restore(struct cosy_activation *run, const void __user *state, u64 *steps, u64 *ns)
{
	struct cosy_state *saved = &run->entry.state;

	if (copy_from_user(saved, state, sizeof(*saved)))
		return -EFAULT;
	run->sp = saved->sp;
	run->fp = saved->fp;
	*steps = saved->steps;
	*ns = saved->kernel_ns;
	return 0;
}
