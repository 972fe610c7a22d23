/* SPDX-License-Identifier: GPL-2.0 */
/* reading.h - a READ under way: what it was asked for, the directory and the entries found so far. */
#ifndef COSY_WATCH_READING_H
#define COSY_WATCH_READING_H

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/limits.h>
#include <linux/path.h>
#include "watch/watcher.h"

#define COSY_WATCH_ENTRIES_SIZE (28 << 10)
#define COSY_WATCH_PREFIX_SIZE	256

struct cosy_watch_reading {
	struct cosy_watcher *watcher;
	const struct cosy_watch_read *asked;
	struct cosy_watch_read *ret; /* the same */
	char prefix[COSY_WATCH_PREFIX_SIZE];
	u32 prefix_length;
	char name[NAME_MAX + 1];
	struct qstr name_text;
	struct path dir; /* a reference, or that of `fd` */
	struct fd fd;	 /* of the directory, if the READ has neither a prefix nor AT_FDCWD */
	struct dentry *children[COSY_WATCH_COUNT];
	u32 count, used;
	u32 tick;
	u8 entries[COSY_WATCH_ENTRIES_SIZE] __aligned(sizeof(u64));
};

#endif /* COSY_WATCH_READING_H */
