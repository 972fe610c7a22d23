// SPDX-License-Identifier: GPL-2.0
/* permission.c - see permission.h. */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/namei.h>
#include <linux/static_call.h>
#include "compat/compat.h"
#include "fast/permission.h"
#include "kernel/symbols.h"

static int hook_permission_none(struct inode *inode, int mask)
{
	return -ENOSYS;
}

DEFINE_STATIC_CALL(cosy_hook_permission, hook_permission_none);

/* Returns whether the security module can be asked. */
static bool permission_known __ro_after_init;

void __init cosy_permission_init(void)
{
	permission_known = cosy_static_call_find(cosy_hook_permission, "security_inode_permission");
}

int cosy_may_search(const struct path *dir)
{
	struct inode *inode = d_inode(dir->dentry);
	umode_t mode = READ_ONCE(inode->i_mode);

	if (likely(permission_known && !inode->i_op->permission && !is_idmapped_mnt(dir->mnt) &&
		   (((mode & 0100) && uid_eq(data_race(inode->i_uid), current_fsuid())) ||
		    ((mode & 0111) == 0111 && !READ_ONCE(inode->i_acl)))))
		return static_call(cosy_hook_permission)(inode, MAY_EXEC);
	return path_permission(dir, MAY_EXEC);
}
