// SPDX-License-Identifier: GPL-2.0
/* xattrs.c - see xattrs.h. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/posix_acl.h>
#include <linux/string.h>
#include <linux/xattr.h>
#include "compat/compat.h"
#include "watch/xattrs.h"

/* Access control lists got a function of their own in 6.2. */
static long acl_ask(const struct path *path, const char *name)
{
#ifdef COSY_HAVE_IDMAP
	struct posix_acl *acl = vfs_get_acl(cosy_mnt_idmap(path->mnt), path->dentry, name);

	if (IS_ERR(acl))
		return PTR_ERR(acl);
	posix_acl_release(acl);
#endif
	return 0;
}

void cosy_watch_xattrs_ask(const struct path *path, struct cosy_watch_entry *entry)
{
	static const char *const names[COSY_WATCH_XATTR_COUNT] = COSY_WATCH_XATTRS;
	long error;
	u32 i;

	for (i = 0; i < COSY_WATCH_XATTR_COUNT; i++) {
		if (strstarts(names[i], XATTR_SYSTEM_PREFIX))
			error = acl_ask(path, names[i]);
		else
			error = vfs_getxattr(cosy_mnt_idmap(path->mnt), path->dentry, names[i],
					     NULL, 0);
		if (error == -ENODATA || error == -EOPNOTSUPP)
			entry->xattr_errors[i] = -error;
	}
	if (!vfs_listxattr(path->dentry, NULL, 0))
		entry->flags |= COSY_WATCH_NO_XATTRS;
}
