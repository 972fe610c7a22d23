/* SPDX-License-Identifier: GPL-2.0 */
/*
 * prefix.h - the directories before the last component of a name.
 *
 * Two such ways are kept (struct cosy_prefix), so a program that compares or copies a tree finds both
 * trees' directories again.
 */
#ifndef COSY_PREFIX_H
#define COSY_PREFIX_H

#include <linux/dcache.h>
#include "run/activation.h"

/* Flags of entries that need more care than a look-up. */
#define COSY_PREFIX_CARE ((DCACHE_MANAGED_DENTRY & ~DCACHE_MOUNTED) | DCACHE_OP_REVALIDATE)

/*
 * Goes from `base` along the first `length` bytes of `path`, to run->names.prefix_dir; then is a slash.
 * 0, an error that is the call's, or COSY_ORDINARY.
 */
s64 cosy_prefix_enter(struct cosy_activation *run, const struct path *base, const u8 *path,
		      u32 length);

/*
 * Returns how many bytes of the name at `at`, in user memory or not, are the way from `base` that the
 * last name went, with its slash; 0: the name goes another way.  COSY_PREFIX_TEXT bytes and a word
 * may be read there.
 */
u32 cosy_prefix_begins(const struct cosy_activation *run, const struct path *base, const u8 *at,
		       bool user);

/* Gives the directory at the end of that way, as it was found. */
void cosy_prefix_end(const struct cosy_activation *run, struct path *ret);

/*
 * Goes that way again, to run->names.prefix_dir, as cosy_prefix_enter does, and asks for the permission
 * to search that directory as well.  0, an error that is the call's; or COSY_ORDINARY: something changed.
 */
s64 cosy_prefix_again(struct cosy_activation *run);

/* Returns whether all directories on the way that was gone last are unchanged. */
bool cosy_prefix_holds(const struct cosy_activation *run);

/* Returns whether a way goes over `mount`, to which it then has a reference. */
bool cosy_prefix_crosses(const struct cosy_activation *run, const struct vfsmount *mount);

/* Drops all ways: part of cosy_held_drop. */
void cosy_prefix_drop(struct cosy_activation *run);

/* Gives the memory of run->names.prefixes back, at the end of a RUN that has dropped them. */
void cosy_prefixes_free(struct cosy_activation *run);

/* Drops those that begin at a mount for which `stays` is false. */
void cosy_prefix_drop_unless(struct cosy_activation *run,
			     bool (*stays)(const struct cosy_activation *run,
					   const struct vfsmount *mount));

/*
 * Goes from an entry of `mnt` to the root of the topmost file system that is mounted on it.  Returns a
 * reference to its mount; NULL: in this name space nothing is; an error: the walk asks one of the
 * file systems in between, as autofs, whether it may go on.
 */
struct vfsmount *cosy_mount_on(struct vfsmount *mnt, struct dentry *entry);

#endif /* COSY_PREFIX_H */
