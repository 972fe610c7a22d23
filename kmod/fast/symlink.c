// SPDX-License-Identifier: GPL-2.0
/*
 * symlink.c - see symlink.h.
 *
 * Served are links whose text is in the inode and is one component, such as a library's versions.
 * Others lead to another directory, which is the path walk's to find.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include "compat/compat.h"
#include "fast/name.h"
#include "fast/symlink.h"
#include "kernel/symbols.h"

static int hook_follow_none(struct dentry *dentry, struct inode *inode, bool rcu)
{
	return -ENOSYS;
}

DEFINE_STATIC_CALL(cosy_hook_follow, hook_follow_none);

/* Tells whether the security module can be asked. */
static bool follow_known __ro_after_init;

void __init cosy_symlink_init(void)
{
	follow_known = cosy_static_call_find(cosy_hook_follow, "security_inode_follow_link");
}

/*
 * Tells whether may_follow_link permits the link whatever the setting fs.protected_symlinks is: it is
 * the caller's own, or not in a directory like /tmp.
 */
static bool follow_is_permitted(const struct path *dir, const struct inode *link)
{
	const umode_t shared = S_ISVTX | S_IWOTH;

	if (is_idmapped_mnt(dir->mnt))
		return false;
	return uid_eq(data_race(link->i_uid), current_fsuid()) ||
	       (READ_ONCE(d_inode(dir->dentry)->i_mode) & shared) != shared;
}

bool cosy_symlink_is_served(const struct path *dir, const struct dentry *link, struct qstr *ret)
{
	const struct inode *inode = d_backing_inode(link);
	const char *text = READ_ONCE(inode->i_link);

	if (!follow_known || !text || (READ_ONCE(dir->mnt->mnt_flags) & MNT_NOSYMFOLLOW) ||
	    !follow_is_permitted(dir, inode))
		return false;
	ret->name = text;
	ret->len = strnlen(text, NAME_MAX + 1);
	return cosy_is_component(ret) && !memchr(text, '/', ret->len);
}

int cosy_symlink_follow(const struct path *dir, struct dentry *link)
{
	struct path path = { .mnt = dir->mnt, .dentry = link };

	touch_atime(&path);
	return static_call(cosy_hook_follow)(link, d_backing_inode(link), false);
}
