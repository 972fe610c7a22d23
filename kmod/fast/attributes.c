// SPDX-License-Identifier: GPL-2.0
/* attributes.c - see attributes.h. */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/stat.h>
#include <linux/user_namespace.h>
#include "compat/compat.h"
#include "fast/attributes.h"
#include "memory/access.h"

/* As from_kuid_munged; in the first namespace, which maps all but the invalid to itself, at once. */
static u32 uid_seen(struct user_namespace *ns, kuid_t uid)
{
	if (likely(ns == &init_user_ns && uid_valid(uid)))
		return __kuid_val(uid);
	return from_kuid_munged(ns, uid);
}

static u32 gid_seen(struct user_namespace *ns, kgid_t gid)
{
	if (likely(ns == &init_user_ns && gid_valid(gid)))
		return __kgid_val(gid);
	return from_kgid_munged(ns, gid);
}

/* As cp_new_stat, which no field of x86-64's struct stat can overflow. */
static int put(struct stat __user *to, const struct kstat *stat)
{
	struct user_namespace *ns = current_user_ns();
	u32 uid = uid_seen(ns, stat->uid), gid = gid_seen(ns, stat->gid);

	static_assert(sizeof(*to) == COSY_STAT_SIZE);
	cosy_access_begin();
	unsafe_put_user(new_encode_dev(stat->dev), &to->st_dev, fault);
	unsafe_put_user(stat->ino, &to->st_ino, fault);
	unsafe_put_user(stat->nlink, &to->st_nlink, fault);
	unsafe_put_user(stat->mode, &to->st_mode, fault);
	unsafe_put_user(uid, &to->st_uid, fault);
	unsafe_put_user(gid, &to->st_gid, fault);
	unsafe_put_user(0, &to->__pad0, fault);
	unsafe_put_user(new_encode_dev(stat->rdev), &to->st_rdev, fault);
	unsafe_put_user(stat->size, &to->st_size, fault);
	unsafe_put_user(stat->blksize, &to->st_blksize, fault);
	unsafe_put_user(stat->blocks, &to->st_blocks, fault);
	unsafe_put_user(stat->atime.tv_sec, &to->st_atime, fault);
	unsafe_put_user(stat->atime.tv_nsec, &to->st_atime_nsec, fault);
	unsafe_put_user(stat->mtime.tv_sec, &to->st_mtime, fault);
	unsafe_put_user(stat->mtime.tv_nsec, &to->st_mtime_nsec, fault);
	unsafe_put_user(stat->ctime.tv_sec, &to->st_ctime, fault);
	unsafe_put_user(stat->ctime.tv_nsec, &to->st_ctime_nsec, fault);
	unsafe_put_user(0, &to->__unused[0], fault);
	unsafe_put_user(0, &to->__unused[1], fault);
	unsafe_put_user(0, &to->__unused[2], fault);
	cosy_access_end();
	return 0;

fault:
	cosy_access_end();
	return -EFAULT;
}

int cosy_attributes(const struct path *path, int flags, u8 *to)
{
	struct kstat stat __cosy_uninitialized;
	int error = vfs_getattr(path, &stat, STATX_BASIC_STATS, flags);

	return error ? error : put((struct stat __user *)to, &stat);
}
