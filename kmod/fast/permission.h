/* SPDX-License-Identifier: GPL-2.0 */
/* permission.h - the permission to search a directory. */
#ifndef COSY_PERMISSION_H
#define COSY_PERMISSION_H

#include <linux/path.h>

/* Finds the security module's hook; without it the kernel's own function is called. */
void cosy_permission_init(void);

/*
 * Answers as path_permission(dir, MAY_EXEC) does: 0, or why not.  Looks at the mode's bits where
 * they alone decide (POSIX.1e permissions of an owner, or of all where there is no access control
 * list), and asks the security module.
 */
int cosy_may_search(const struct path *dir);

#endif /* COSY_PERMISSION_H */
