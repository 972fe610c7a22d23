/* SPDX-License-Identifier: GPL-2.0 */
/*
 * directory.h - stat(2) and its family by a name of one component.
 *
 * The directory is open, or the current one, and the name is in the directory cache:
 * then the path walk is a permission check and one look-up.  Arguments and results are
 * those of the system call; COSY_ORDINARY, and nothing done, when a guard fails.
 */
#ifndef COSY_DIRECTORY_H
#define COSY_DIRECTORY_H

#include <linux/path.h>
#include "fast.h"

s64 cosy_fast_fstatat(struct cosy_activation *run, s32 dirfd, u64 name, u64 to, s32 flags);
s64 cosy_fast_fstat(struct cosy_activation *run, u32 fd, u64 to);

/* newfstatat(2) under the directory `dir`, which the caller holds. */
s64 cosy_stat_under(struct cosy_activation *run, const struct path *dir, u64 name, u64 to,
		    s32 flags);

#endif /* COSY_DIRECTORY_H */
