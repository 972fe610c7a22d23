// SPDX-License-Identifier: GPL-2.0
/*
 * xattr.c - getxattr and lgetxattr: short values, and above all the answer that there is none,
 * which listing programs get for nearly every file.
 *
 * lookup.h walks the path.  From there the kernel's own function asks the security module and the
 * file system, once.  So cases that do not belong here (long values; access control lists, whose
 * ids need translation) are detected before.
 */
#include <linux/fs.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/xattr.h>
#include "compat/acl.h"
#include "fast/fast.h"
#include "fast/lookup.h"
#include "fast/next.h"
#include "run/ordinary.h"

/*
 * Maximum bytes of an attribute's value and, with its NUL, of its name; longer ones are left to the
 * ordinary call.
 */
#define MAX_VALUE 256
#define MAX_NAME  64

/* Answers for a file that is known to have no access control list. */
static s64 acl_missing(struct cosy_activation *run, const struct path *path, const char *name,
		       int type)
{
	struct inode *inode = d_backing_inode(path->dentry);
	const struct posix_acl *acl;
	s64 error;

	acl = type == ACL_TYPE_ACCESS ? READ_ONCE(inode->i_acl) : READ_ONCE(inode->i_default_acl);
	if (unlikely(IS_POSIXACL(inode) && acl))
		return cosy_guard_failed(run, COSY_GUARD_CACHED);
	error = cosy_acl_ask(path, name);
	return likely(error) ? error : cosy_guard_failed(run, COSY_GUARD_CACHED);
}

static s64 value_get(const struct path *path, const char *name, u64 to, u64 size)
{
	/* A file system may return more than it has written. */
	u8 value[MAX_VALUE] = {};
	s64 result = vfs_getxattr(cosy_mnt_idmap(path->mnt), path->dentry, name,
				  size ? value : NULL, size);

	if (result > 0 && size &&
	    copy_to_user(u64_to_user_ptr(to), value, min_t(u64, result, size)))
		return -EFAULT;
	return result;
}

/*
 * Gets the attribute's name.  0 or COSY_ORDINARY.  It comes before the look-up, which may return
 * another error: kernels differ in the order of these checks.
 */
static __always_inline s64 name_get(struct cosy_activation *run, u64 address, char name[MAX_NAME])
{
	long length = strncpy_from_user(name, u64_to_user_ptr(address), MAX_NAME);

	if (unlikely(length < 0))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	if (unlikely(!length || length == MAX_NAME))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	return 0;
}

static __always_inline s64 xattr_get(struct cosy_activation *run, const struct path *path,
				     const char *name, u64 to, u64 size)
{
	if (!strcmp(name, XATTR_NAME_POSIX_ACL_ACCESS))
		return acl_missing(run, path, name, ACL_TYPE_ACCESS);
	if (!strcmp(name, XATTR_NAME_POSIX_ACL_DEFAULT))
		return acl_missing(run, path, name, ACL_TYPE_DEFAULT);
	return value_get(path, name, to, size);
}

static noinline s64 xattr_named(struct cosy_activation *run, const u64 *r, bool follow)
{
	struct cosy_found found __cosy_uninitialized;
	char name[MAX_NAME] __cosy_uninitialized;
	s64 result;

	if (unlikely(r[4] > MAX_VALUE))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	result = name_get(run, r[2], name);
	if (unlikely(result))
		return result;
	result = cosy_find_next(run, AT_FDCWD, r[1], follow, true);
	if (likely(!result))
		return xattr_get(run, &run->names.child, name, r[3], r[4]);
	if (result != COSY_ORDINARY)
		return result;
	result = cosy_find(run, AT_FDCWD, r[1], follow, true, &found);
	if (unlikely(result))
		return result;
	result = xattr_get(run, &found.path, name, r[3], r[4]);
	cosy_found_put(run, AT_FDCWD, &found);
	return result;
}

s64 cosy_fast_getxattr(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, xattr_named(run, r, true));
}

s64 cosy_fast_lgetxattr(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, xattr_named(run, r, false));
}
