/* SPDX-License-Identifier: GPL-2.0 */
/* reading.h - a READ under way: what it was asked for, the directory and the entries found so far. */
#ifndef COSY_WATCH_READING_H
#define COSY_WATCH_READING_H

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/limits.h>
#include <linux/path.h>
#include "watch/watcher.h"

#define COSY_WATCH_PREFIX_SIZE 256
/* Pages of entries, and how many entries of usual names a page has. */
#define COSY_WATCH_ENTRY_PAGES	7
#define COSY_WATCH_PAGE_ENTRIES 20

struct cosy_watch_found {
	struct dentry *child;
	struct cosy_watch_entry *entry;
};

/* Entries are in pages as they are in the caller's buffer, but none is in two pages. */
struct cosy_watch_entry_page {
	u8 *bytes;
	u32 used;
};

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
	struct cosy_watch_found found[COSY_WATCH_COUNT];
	u32 count, used;
	u32 tick;
	bool queries_access; /* COSY_WATCH_ACCESS, which can be answered */
	u32 page, page_cnt;  /* the page that is being filled, and how many this READ may fill */
	u8 *next;	     /* where in the page the next entry goes, */
	u32 left;	     /* and how many bytes are left for it */
	struct cosy_watch_entry_page pages[COSY_WATCH_ENTRY_PAGES];
};

#endif /* COSY_WATCH_READING_H */
