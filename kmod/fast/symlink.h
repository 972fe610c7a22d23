/* SPDX-License-Identifier: GPL-2.0 */
/* symlink.h - a symbolic link as the last component of a name. */
#ifndef COSY_SYMLINK_H
#define COSY_SYMLINK_H

#include <linux/dcache.h>
#include <linux/path.h>

/* Finds the security module's hook; without it links are followed by the ordinary call. */
void cosy_symlink_init(void);

/*
 * Tells whether the call may follow `link`, an entry of the directory `dir`, without the ordinary
 * call's help.  `*ret` is then its text, one component, for as long as the caller has a reference to
 * the link.
 */
bool cosy_symlink_is_served(const struct path *dir, const struct dentry *link, struct qstr *ret);

/* Follows such a link: notes the access and asks the security module.  0, or why not. */
int cosy_symlink_follow(const struct path *dir, struct dentry *link);

#endif /* COSY_SYMLINK_H */
