/* SPDX-License-Identifier: GPL-2.0 */
/* xattrs.h - extended attributes that a file does not have. */
#ifndef COSY_WATCH_XATTRS_H
#define COSY_WATCH_XATTRS_H

#include <linux/cosy_watch.h>
#include <linux/path.h>

/*
 * Fills in the entry's `xattr_errors` and COSY_WATCH_NO_XATTRS, by the functions that getxattr(2) and
 * listxattr(2) call.  The caller has read the entry's word and checked that its inode is stable:
 * whoever sets one holds the inode's lock.
 */
void cosy_watch_xattrs_ask(const struct path *path, struct cosy_watch_entry *entry);

#endif /* COSY_WATCH_XATTRS_H */
