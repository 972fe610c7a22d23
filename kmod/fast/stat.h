/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stat.h - newfstatat(2) under an open directory, for scans (getdents.c).
 *
 * If the name has one component and is in the directory cache, the path walk is a permission check
 * and one look-up (lookup.h).  Arguments and results are those of the system call.  Returns
 * COSY_ORDINARY, with nothing done, if a guard fails.
 */
#ifndef COSY_STAT_H
#define COSY_STAT_H

#include <linux/dcache.h>
#include <linux/path.h>
#include "fast/guard.h"

/*
 * Makes newfstatat(2) under the directory `dir`, to which the caller has a reference; `flags` have
 * passed guard LIMITED.  Unless nobody shares its descriptor, the caller keeps `dir` open until it
 * has called cosy_child_drop.
 */
s64 cosy_stat_under(struct cosy_activation *run, const struct path *dir, u64 name, u64 to,
		    s32 flags);

/*
 * Does the same once the directory may be searched, for a name that cosy_is_component accepts and
 * that kernel code can read.  The attributes go to `to` as cosy_reach gave it.
 */
s64 cosy_stat_child(struct cosy_activation *run, const struct path *dir, struct qstr *name, u8 *to,
		    s32 flags);

#endif /* COSY_STAT_H */
