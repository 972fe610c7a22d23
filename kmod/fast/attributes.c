// SPDX-License-Identifier: GPL-2.0
/*
 * attributes.c - see attributes.h.
 *
 * File systems may implement stat(2) themselves. tmpfs answers with the inode's fields, with two
 * exceptions.  It first corrects the count of blocks after reclaim has dropped pages, and the inode
 * shows that this is due.  And st_blksize reports huge pages: a mount option, or a setting of the
 * system, which is read in place.  If its place is not known, tmpfs itself is asked once, about a
 * regular file, after each cosy_held_drop.  So it is for statx, which also tells what it answers.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mount.h>
#include <linux/shmem_fs.h>
#include <linux/stat.h>
#include <linux/static_call.h>
#include <linux/user_namespace.h>
#include "compat/compat.h"
#include "compat/statx.h"
#include "fast/attributes.h"
#include "fast/guard.h"
#include "fast/mount.h"
#include "kernel/symbols.h"
#include "memory/access.h"
#include "run/activation.h"

#define PUT_STAT_TIME(field, time)                                                                 \
	do {                                                                                       \
		unsafe_put_user((time).tv_sec, &to->field, fault);                                 \
		unsafe_put_user((time).tv_nsec, &to->field##_nsec, fault);                         \
	} while (0)

#define PUT_STAT_PADDING()                                                                         \
	do {                                                                                       \
		unsafe_put_user(0, &to->__pad0, fault);                                            \
		unsafe_put_user(0, &to->__unused[0], fault);                                       \
		unsafe_put_user(0, &to->__unused[1], fault);                                       \
		unsafe_put_user(0, &to->__unused[2], fault);                                       \
	} while (0)

/* Writes a struct stat as cp_new_stat does; no field of x86-64's can overflow. */
static __always_inline int stat_put(struct stat __user *to, const struct kstat *stat)
{
	struct user_namespace *ns = current_user_ns();
	u32 uid = cosy_uid_seen(ns, stat->uid), gid = cosy_gid_seen(ns, stat->gid);

	static_assert(sizeof(*to) == COSY_STAT_SIZE);
	cosy_access_begin();
	unsafe_put_user(new_encode_dev(stat->dev), &to->st_dev, fault);
	unsafe_put_user(stat->ino, &to->st_ino, fault);
	unsafe_put_user(stat->nlink, &to->st_nlink, fault);
	unsafe_put_user(stat->mode, &to->st_mode, fault);
	unsafe_put_user(uid, &to->st_uid, fault);
	unsafe_put_user(gid, &to->st_gid, fault);
	unsafe_put_user(new_encode_dev(stat->rdev), &to->st_rdev, fault);
	unsafe_put_user(stat->size, &to->st_size, fault);
	unsafe_put_user(stat->blksize, &to->st_blksize, fault);
	unsafe_put_user(stat->blocks, &to->st_blocks, fault);
	PUT_STAT_TIME(st_atime, stat->atime);
	PUT_STAT_TIME(st_mtime, stat->mtime);
	PUT_STAT_TIME(st_ctime, stat->ctime);
	PUT_STAT_PADDING();
	cosy_access_end();
	return 0;

fault:
	cosy_access_end();
	return -EFAULT;
}

/* --- The inode's answer ----------------------------------------------------------------- */

static int hook_getattr_none(const struct path *path)
{
	return -ENOSYS;
}

DEFINE_STATIC_CALL(cosy_hook_getattr, hook_getattr_none);

/* tmpfs's ->getattr, if the security module can be asked. */
static const void *tmpfs_getattr __ro_after_init;
/*
 * The setting /sys/kernel/mm/transparent_hugepage/shmem_enabled, by its lowest byte; NULL: unknown.
 */
static const s8 *shmem_setting __ro_after_init;
#define SHMEM_SETTING_FORCE (-2)

void __init cosy_attributes_init(void)
{
	struct file *file;

	if (!cosy_static_call_find(cosy_hook_getattr, "security_inode_getattr"))
		return;
	shmem_setting = cosy_unexported_data("shmem_huge");
	file = cosy_shmem_file("cosy");
	if (IS_ERR(file))
		return;
	tmpfs_getattr = file_inode(file)->i_op->getattr;
	fput(file);
}

int cosy_may_get_attributes(const struct path *path)
{
	return static_call(cosy_hook_getattr)(path);
}

/*
 * Returns whether tmpfs, whose super block the inode's is, would answer with the fields of the
 * inode, but for st_blksize.
 */
static __always_inline bool tmpfs_answers_inode(const struct path *path, const struct inode *inode)
{
	const struct shmem_inode_info *info;

	if ((const void *)inode->i_op->getattr != tmpfs_getattr || is_idmapped_mnt(path->mnt))
		return false;
	info = container_of(inode, struct shmem_inode_info, vfs_inode);
	return READ_ONCE(info->alloced) - READ_ONCE(info->swapped) ==
		       READ_ONCE(inode->i_mapping->nrpages) &&
	       !((const struct shmem_sb_info *)inode->i_sb->s_fs_info)->huge;
}

/*
 * Fills `ret` as generic_fillattr does for a mount that is not idmapped and a request of these
 * fields; unlocked, so that others may change the inode meanwhile.
 */
static __always_inline void inode_fill(struct inode *inode, u32 request_mask, struct kstat *ret)
{
	ret->dev = inode->i_sb->s_dev;
	ret->ino = inode->i_ino;
	ret->nlink = data_race(inode->i_nlink);
	ret->mode = data_race(inode->i_mode);
	ret->uid = data_race(inode->i_uid);
	ret->gid = data_race(inode->i_gid);
	ret->rdev = inode->i_rdev;
	ret->size = i_size_read(inode);
	ret->blksize = i_blocksize(inode);
	ret->blocks = data_race(inode->i_blocks);
	ret->atime = data_race(inode_get_atime(inode));
	if (!cosy_times_are_coarse(inode)) {
		cosy_query_change(inode, request_mask, ret);
		return;
	}
	ret->mtime = data_race(inode_get_mtime(inode));
	ret->ctime = data_race(inode_get_ctime(inode));
}

/*
 * Does inode_fill and stat_put field by field, so that none waits on the stack: by way of a struct
 * kstat each field would be stored and loaded once more.  `dev` is the super block's number as stat
 * tells it.
 */
static __always_inline int stat_put_inode(struct stat __user *to, struct inode *inode, u32 dev)
{
	const bool coarse = cosy_times_are_coarse(inode);
	struct user_namespace *ns = current_user_ns();
	struct kstat queried __cosy_uninitialized;
	u32 uid = cosy_uid_seen(ns, data_race(inode->i_uid)),
	    gid = cosy_gid_seen(ns, data_race(inode->i_gid));
	struct timespec64 time;

	if (!coarse)
		cosy_query_change(inode, STATX_BASIC_STATS, &queried);
	cosy_access_begin();
	unsafe_put_user(dev, &to->st_dev, fault);
	unsafe_put_user(inode->i_ino, &to->st_ino, fault);
	unsafe_put_user(data_race(inode->i_nlink), &to->st_nlink, fault);
	unsafe_put_user(data_race(inode->i_mode), &to->st_mode, fault);
	unsafe_put_user(uid, &to->st_uid, fault);
	unsafe_put_user(gid, &to->st_gid, fault);
	unsafe_put_user(likely(!inode->i_rdev) ? 0 : new_encode_dev(inode->i_rdev), &to->st_rdev,
			fault);
	unsafe_put_user(i_size_read(inode), &to->st_size, fault);
	unsafe_put_user(i_blocksize(inode), &to->st_blksize, fault);
	unsafe_put_user(data_race(inode->i_blocks), &to->st_blocks, fault);
	time = data_race(inode_get_atime(inode));
	PUT_STAT_TIME(st_atime, time);
	time = coarse ? data_race(inode_get_mtime(inode)) : queried.mtime;
	PUT_STAT_TIME(st_mtime, time);
	time = coarse ? data_race(inode_get_ctime(inode)) : queried.ctime;
	PUT_STAT_TIME(st_ctime, time);
	PUT_STAT_PADDING();
	cosy_access_end();
	return 0;

fault:
	cosy_access_end();
	return -EFAULT;
}

static __always_inline bool stat_is_agreed(const struct cosy_activation *run,
					   const struct inode *inode)
{
	return (run->held & COSY_HELD_AGREED) && run->agreed.sb == inode->i_sb;
}

/*
 * Records that tmpfs answered with the fields of a regular file's inode, including st_blksize.
 */
static void stat_agree(struct cosy_activation *run, const struct inode *inode)
{
	run->agreed.sb = inode->i_sb;
	run->held |= COSY_HELD_AGREED;
}

static noinline int stat_ask(struct cosy_activation *run, const struct path *path, int flags,
			     struct stat __user *to, bool more)
{
	const struct inode *inode = d_backing_inode(path->dentry);
	struct kstat stat __cosy_uninitialized;
	int error = vfs_getattr(path, &stat, STATX_BASIC_STATS, flags);

	if (error)
		return error;
	if (more && S_ISREG(stat.mode) && tmpfs_getattr && tmpfs_answers_inode(path, inode) &&
	    stat.blksize == i_blocksize(inode)) {
		stat_agree(run, inode);
		run->agreed.asked = 0;
	}
	return stat_put(to, &stat);
}

/*
 * Returns whether tmpfs, if it answers with the inode's fields, answers with its block size as
 * well: whether the setting forces no huge pages upon a mount without them, or it has agreed.
 */
static __always_inline bool stat_has_block_size(const struct cosy_activation *run,
						const struct inode *inode)
{
	if (likely(shmem_setting))
		return READ_ONCE(*shmem_setting) != SHMEM_SETTING_FORCE;
	return stat_is_agreed(run, inode);
}

int cosy_attributes(struct cosy_activation *run, const struct path *path, int flags, u8 *to,
		    bool more)
{
	struct inode *inode = d_backing_inode(path->dentry);
	int error;

	if (likely(stat_has_block_size(run, inode) && tmpfs_answers_inode(path, inode))) {
		error = static_call(cosy_hook_getattr)(path);
		return error ? error
			     : stat_put_inode((struct stat __user *)to, inode,
					      new_encode_dev(inode->i_sb->s_dev));
	}
	return stat_ask(run, path, flags, (struct stat __user *)to, more);
}

/* --- statx ------------------------------------------------------------------------------ */

#define PUT_TIME(field, time)                                                                      \
	do {                                                                                       \
		unsafe_put_user((time).tv_sec, &to->field.tv_sec, fault);                          \
		unsafe_put_user((u32)(time).tv_nsec, &to->field.tv_nsec, fault);                   \
		unsafe_put_user(0, &to->field.__reserved, fault);                                  \
	} while (0)

/* Writes a struct statx as cp_statx does. */
static __always_inline int statx_put(struct statx __user *to, const struct kstat *stat)
{
	struct user_namespace *ns = current_user_ns();
	u32 uid = cosy_uid_seen(ns, stat->uid), gid = cosy_gid_seen(ns, stat->gid);
	size_t rest = COSY_STATX_END;

	static_assert(sizeof(*to) == COSY_STATX_SIZE);
	cosy_access_begin();
	unsafe_put_user(stat->result_mask & ~COSY_STATX_OWN, &to->stx_mask, fault);
	unsafe_put_user(stat->blksize, &to->stx_blksize, fault);
	unsafe_put_user(stat->attributes & ~COSY_STATX_ATTR_OWN, &to->stx_attributes, fault);
	unsafe_put_user(stat->nlink, &to->stx_nlink, fault);
	unsafe_put_user(uid, &to->stx_uid, fault);
	unsafe_put_user(gid, &to->stx_gid, fault);
	unsafe_put_user(stat->mode, &to->stx_mode, fault);
	unsafe_put_user(0, &to->__spare0[0], fault);
	unsafe_put_user(stat->ino, &to->stx_ino, fault);
	unsafe_put_user(stat->size, &to->stx_size, fault);
	unsafe_put_user(stat->blocks, &to->stx_blocks, fault);
	unsafe_put_user(stat->attributes_mask, &to->stx_attributes_mask, fault);
	PUT_TIME(stx_atime, stat->atime);
	PUT_TIME(stx_btime, stat->btime);
	PUT_TIME(stx_ctime, stat->ctime);
	PUT_TIME(stx_mtime, stat->mtime);
	unsafe_put_user(MAJOR(stat->rdev), &to->stx_rdev_major, fault);
	unsafe_put_user(MINOR(stat->rdev), &to->stx_rdev_minor, fault);
	unsafe_put_user(MAJOR(stat->dev), &to->stx_dev_major, fault);
	unsafe_put_user(MINOR(stat->dev), &to->stx_dev_minor, fault);
	unsafe_put_user(stat->mnt_id, &to->stx_mnt_id, fault);
	unsafe_put_user(stat->dio_mem_align, &to->stx_dio_mem_align, fault);
	unsafe_put_user(stat->dio_offset_align, &to->stx_dio_offset_align, fault);
	COSY_STATX_PUT_LATER();
	if (rest % COSY_WORD) {
		unsafe_put_user(0, (u32 __user *)((u8 __user *)to + rest), fault);
		rest += sizeof(u32);
	}
	for (; rest < sizeof(*to); rest += COSY_WORD)
		cosy_poke_word(0, (u8 __force *)to + rest, fault);
	cosy_access_end();
	return 0;

fault:
	cosy_access_end();
	return -EFAULT;
}

/* Returns whether the inode has no flag of which shmem_getattr tells statx. */
static __always_inline bool tmpfs_is_unflagged(const struct inode *inode)
{
	return !container_of(inode, struct shmem_inode_info, vfs_inode)->fsflags &&
	       !(inode->i_flags & (S_APPEND | S_IMMUTABLE | S_AUTOMOUNT | S_DAX));
}

/* Adds statx's fields of the mount. */
static __always_inline void mount_fill(const struct path *path, struct kstat *ret)
{
	ret->mnt_id = cosy_mount_id(path->mnt);
	ret->result_mask |= STATX_MNT_ID;
	if (path->mnt->mnt_root == path->dentry)
		ret->attributes |= STATX_ATTR_MOUNT_ROOT;
	ret->attributes_mask |= STATX_ATTR_MOUNT_ROOT;
}

bool cosy_attributes_fill(const struct path *path, struct stat *to)
{
	struct inode *inode = d_backing_inode(path->dentry);
	const bool coarse = cosy_times_are_coarse(inode);
	struct user_namespace *ns = current_user_ns();
	struct kstat asked __cosy_uninitialized;
	struct timespec64 time;

	if (!shmem_setting || READ_ONCE(*shmem_setting) == SHMEM_SETTING_FORCE ||
	    !tmpfs_answers_inode(path, inode) || !tmpfs_is_unflagged(inode))
		return false;
	if (!coarse)
		cosy_query_change(inode, STATX_BASIC_STATS, &asked);
	to->st_dev = new_encode_dev(inode->i_sb->s_dev);
	to->st_ino = inode->i_ino;
	to->st_nlink = data_race(inode->i_nlink);
	to->st_mode = data_race(inode->i_mode);
	to->st_uid = cosy_uid_seen(ns, data_race(inode->i_uid));
	to->st_gid = cosy_gid_seen(ns, data_race(inode->i_gid));
	to->__pad0 = 0;
	to->st_rdev = likely(!inode->i_rdev) ? 0 : new_encode_dev(inode->i_rdev);
	to->st_size = i_size_read(inode);
	to->st_blksize = i_blocksize(inode);
	to->st_blocks = data_race(inode->i_blocks);
	time = data_race(inode_get_atime(inode));
	to->st_atime = time.tv_sec;
	to->st_atime_nsec = time.tv_nsec;
	time = coarse ? data_race(inode_get_mtime(inode)) : asked.mtime;
	to->st_mtime = time.tv_sec;
	to->st_mtime_nsec = time.tv_nsec;
	time = coarse ? data_race(inode_get_ctime(inode)) : asked.ctime;
	to->st_ctime = time.tv_sec;
	to->st_ctime_nsec = time.tv_nsec;
	return true;
}

static noinline int statx_ask(struct cosy_activation *run, const struct path *path, int flags,
			      u32 mask, struct statx __user *to, bool more)
{
	const struct inode *inode = d_backing_inode(path->dentry);
	struct kstat stat __cosy_uninitialized;
	int error = vfs_getattr(path, &stat, mask, flags);

	if (error)
		return error;
	if (more && S_ISREG(stat.mode) && tmpfs_getattr && tmpfs_answers_inode(path, inode) &&
	    tmpfs_is_unflagged(inode) && stat.blksize == i_blocksize(inode) && !stat.attributes) {
		stat_agree(run, inode);
		run->agreed.asked = mask | COSY_ASKED;
		run->agreed.answered = stat.result_mask;
		run->agreed.attributes = stat.attributes_mask;
	}
	mount_fill(path, &stat);
	return statx_put(to, &stat);
}

static __always_inline int statx_put_inode(const struct cosy_activation *run,
					   const struct path *path, struct statx __user *to,
					   struct inode *inode)
{
	struct kstat stat = { .result_mask = run->agreed.answered,
			      .attributes_mask = run->agreed.attributes };

	inode_fill(inode, run->agreed.asked, &stat);
	if (stat.result_mask & STATX_BTIME)
		stat.btime = container_of(inode, struct shmem_inode_info, vfs_inode)->i_crtime;
	mount_fill(path, &stat);
	return statx_put(to, &stat);
}

bool cosy_statx_is_known(void)
{
	return COSY_STATX_IS_KNOWN && cosy_mount_ids_are_known();
}

s64 cosy_extended_attributes(struct cosy_activation *run, const struct path *path, int flags,
			     u32 mask, u8 *at, bool more)
{
	struct inode *inode = d_backing_inode(path->dentry);
	struct statx __user *to = (struct statx __user *)at;
	int error;

	/* statx asks a block device, too. */
	if (unlikely(S_ISBLK(data_race(inode->i_mode))))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (likely(stat_is_agreed(run, inode) && run->agreed.asked == (mask | COSY_ASKED) &&
		   tmpfs_answers_inode(path, inode) && tmpfs_is_unflagged(inode))) {
		error = static_call(cosy_hook_getattr)(path);
		return error ? error : statx_put_inode(run, path, to, inode);
	}
	return statx_ask(run, path, flags, mask, to, more);
}
