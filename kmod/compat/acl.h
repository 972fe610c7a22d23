/* SPDX-License-Identifier: GPL-2.0 */
/* acl.h - how access control lists are asked for: apart since Linux 6.2, before as attributes. */
#ifndef COSY_COMPAT_ACL_H
#define COSY_COMPAT_ACL_H

#include <linux/posix_acl.h>
#include <linux/xattr.h>
#include "compat/compat.h"

/* Asks for the list of that attribute's name.  0: there is one; else the error of getxattr. */
static inline s64 cosy_acl_ask(const struct path *path, const char *name)
{
#ifdef COSY_HAVE_GET_ACL
	struct posix_acl *acl = vfs_get_acl(cosy_mnt_idmap(path->mnt), path->dentry, name);

	if (likely(IS_ERR(acl)))
		return PTR_ERR(acl);
	posix_acl_release(acl);
	return 0;
#else
	s64 result = vfs_getxattr(cosy_mnt_idmap(path->mnt), path->dentry, name, NULL, 0);

	return min_t(s64, result, 0);
#endif
}

#endif /* COSY_COMPAT_ACL_H */
