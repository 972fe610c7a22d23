/* SPDX-License-Identifier: GPL-2.0 */
/* attributes.h - what stat(2) tells of a file. */
#ifndef COSY_ATTRIBUTES_H
#define COSY_ATTRIBUTES_H

#include <linux/path.h>
#include <linux/types.h>

/* Bytes of struct stat. */
#define COSY_STAT_SIZE 144
/* ... and struct statx. */
#define COSY_STATX_SIZE 256

struct cosy_activation;

/* Finds the security module's hooks; without them the kernel's own functions are called. */
void cosy_attributes_init(void);

/*
 * path_permission(dir, MAY_EXEC): 0, or why not.  From the mode's bits where they alone decide
 * (POSIX.1e permissions of an owner, or of all where there is no access control list), and the
 * security module's say.
 */
int cosy_may_search(const struct path *dir);

/*
 * As newfstatat(2) once it has found `path`, which the caller holds: the security
 * module's say, then the file system's answer, then a struct stat at `to`, which
 * cosy_reach has bounded.  `flags` are newfstatat's.  0, -EFAULT, or their error;
 * nothing is written then, but for what lies before a fault.  `more`: others of the same file
 * system are likely to follow.
 */
int cosy_attributes(struct cosy_activation *run, const struct path *path, int flags, u8 *to,
		    bool more);

/* Whether this kernel's statx(2) can be answered by cosy_extended_attributes. */
bool cosy_statx_is_known(void);

/*
 * The same as statx(2) with `mask` and its `flags`, into COSY_STATX_SIZE bytes at `to`;
 * COSY_ORDINARY for block devices.  The mask asks for basic fields, the time of birth and the
 * mount's number only.
 */
s64 cosy_extended_attributes(struct cosy_activation *run, const struct path *path, int flags,
			     u32 mask, u8 *to, bool more);

#endif /* COSY_ATTRIBUTES_H */
