/* SPDX-License-Identifier: GPL-2.0 */
/* attributes.h - the attributes of a file, as stat(2) reports them. */
#ifndef COSY_ATTRIBUTES_H
#define COSY_ATTRIBUTES_H

#include <linux/path.h>
#include <linux/stat.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

/* Bytes of struct stat. */
#define COSY_STAT_SIZE 144
/* Bytes of struct statx. */
#define COSY_STATX_SIZE 256

struct cosy_activation;

/* Does from_kuid_munged.  The first namespace maps every valid id to itself. */
static __always_inline u32 cosy_uid_seen(struct user_namespace *ns, kuid_t uid)
{
	if (likely(ns == &init_user_ns && uid_valid(uid)))
		return __kuid_val(uid);
	return from_kuid_munged(ns, uid);
}

static __always_inline u32 cosy_gid_seen(struct user_namespace *ns, kgid_t gid)
{
	if (likely(ns == &init_user_ns && gid_valid(gid)))
		return __kgid_val(gid);
	return from_kgid_munged(ns, gid);
}

/* Finds the security module's hook; without it the kernel's own function is called. */
void cosy_attributes_init(void);

/*
 * Does the rest of newfstatat(2) after `path` is found, to which the caller has a reference: asks
 * the security module, then the file system, and writes a struct stat to `to`, which cosy_reach has
 * bounded.  `flags` are newfstatat's.  `more`: other files of the same file system are likely to
 * follow.  0, -EFAULT, or an error of theirs; then nothing is written, except below a fault's
 * address.
 */
int cosy_attributes(struct cosy_activation *run, const struct path *path, int flags, u8 *to,
		    bool more);

/*
 * Asks the security module about reading a file's attributes.  0, or why not; -ENOSYS: not known.
 */
int cosy_may_get_attributes(const struct path *path);

/*
 * Fills in all of a struct stat, up to its padding, if tmpfs would answer with the fields of the
 * inode, and no attribute of statx is set.  False: the file system has to be asked.  The caller has
 * asked the security module.
 */
bool cosy_attributes_fill(const struct path *path, struct stat *to);

/* Tells whether cosy_extended_attributes can answer for this kernel's statx(2). */
bool cosy_statx_is_known(void);

/*
 * Does the same for statx(2), with its `mask` and `flags`, into COSY_STATX_SIZE bytes at `to`.
 * The mask asks for basic fields, the time of birth and the mount's number only.  COSY_ORDINARY
 * for block devices.
 */
s64 cosy_extended_attributes(struct cosy_activation *run, const struct path *path, int flags,
			     u32 mask, u8 *to, bool more);

#endif /* COSY_ATTRIBUTES_H */
