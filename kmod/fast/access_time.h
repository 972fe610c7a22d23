/* SPDX-License-Identifier: GPL-2.0 */
/* access_time.h - when a read changes an inode's time of access. */
#ifndef COSY_ACCESS_TIME_H
#define COSY_ACCESS_TIME_H

#include <linux/fs.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include "compat/compat.h"

#define COSY_RELATIME (24 * 60 * 60) /* seconds after which relatime updates a time of access */

/*
 * Returns whether a mount with relatime leaves the time of access: it is later than the times of
 * change, and less than `age` seconds old.  Reads the times unlocked, as atime_needs_update does.
 */
static __always_inline bool cosy_relatime_keeps(const struct inode *inode, s64 age)
{
	const struct timespec64 accessed = data_race(inode_get_atime(inode));
	const struct timespec64 modified = data_race(inode_get_mtime(inode));
	const struct timespec64 changed = data_race(inode_get_ctime(inode));

	/* These are the coarse clock's seconds, as touch_atime takes them. */
	return timespec64_compare(&modified, &accessed) < 0 &&
	       timespec64_compare(&changed, &accessed) < 0 &&
	       ktime_get_real_seconds() - accessed.tv_sec < age;
}

#endif /* COSY_ACCESS_TIME_H */
