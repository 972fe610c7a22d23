/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stat.h - stat(2) and its family by a name of one component.
 *
 * The directory is open, or the current one, and the name is in the directory cache:
 * then the path walk is a permission check and one look-up.  Arguments and results are
 * those of the system call; COSY_ORDINARY, and nothing done, when a guard fails.
 */
#ifndef COSY_STAT_H
#define COSY_STAT_H

#include <linux/dcache.h>
#include <linux/limits.h>
#include <linux/path.h>
#include "fast/guard.h"

/*
 * newfstatat(2) under the directory `dir`, which the caller holds; flags are LIMITED.  With
 * `stays` it stays open until the next cosy_held_drop, whatever others do, so that what was
 * found there may be kept until then.
 */
s64 cosy_stat_under(struct cosy_activation *run, const struct path *dir, u64 name, u64 to,
		    s32 flags, bool stays);

/*
 * The same once the directory may be searched, for a name in kernel memory that
 * cosy_is_component, with the attributes to `to` as cosy_reach gave it.  `dir` stays.
 */
s64 cosy_stat_child(struct cosy_activation *run, const struct path *dir, struct qstr *name, u8 *to,
		    s32 flags);

/* Lets the name go that was found last: part of cosy_held_drop. */
void cosy_child_drop(struct cosy_activation *run);

/* A name of its own, neither too long nor a dot or two. */
static inline bool cosy_is_component(const struct qstr *name)
{
	return name->len - 1 < NAME_MAX &&
	       (likely(name->name[0] != '.') ||
		(name->len > 1 && (name->len > 2 || name->name[1] != '.')));
}

#endif /* COSY_STAT_H */
