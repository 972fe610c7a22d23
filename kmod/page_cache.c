// SPDX-License-Identifier: GPL-2.0
/* page_cache.c - what a read does besides finding and copying bytes. */
#include <linux/fsnotify.h>
#include <linux/sched/xacct.h>
#include "page_cache.h"

void cosy_read_done(struct file *file, loff_t end, size_t count)
{
	file_accessed(file);
	if (count) {
		file->f_ra.prev_pos = end;
		fsnotify_access(file);
		add_rchar(current, count);
	}
	inc_syscr(current);
}
