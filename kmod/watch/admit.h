/* SPDX-License-Identifier: GPL-2.0 */
/*
 * admit.h - which inodes' attributes a READ may give out: those that cannot change unnoticed.
 *
 * The hooks see the changes that file systems make under an inode's lock.  Reads and writes change
 * attributes without them, so nobody may have the file open.  Opening it is seen.
 */
#ifndef COSY_WATCH_ADMIT_H
#define COSY_WATCH_ADMIT_H

#include <linux/fs.h>

/* Returns whether entries of the directory may be given out. */
bool cosy_watch_admits_directory(const struct dentry *dir);

/*
 * Returns whether the inode's attributes are certain to stay as they are until its word changes.
 * The caller has registered the inode and read its word.
 */
bool cosy_watch_is_stable(const struct inode *inode);

/*
 * Returns whether listing a directory, which was opened by this file, leaves its time of access as it
 * is, until a hook sees a change of its times.  False in doubt.
 */
bool cosy_watch_keeps_access_time(const struct file *dir);

/* Returns whether somebody changes the directory or its entries now. */
bool cosy_watch_is_changing(struct inode *dir);

void cosy_watch_admit_init(void);

#endif /* COSY_WATCH_ADMIT_H */
