// SPDX-License-Identifier: GPL-2.0
/*
 * faccessat.c - access, faccessat and faccessat2.
 *
 * lookup.h walks the path.  From there it is what access(2) does: it refuses to run files of
 * mounts without programs, inode_permission asks the file system and the security module, and
 * writing is refused where the mount is read-only.
 *
 * The call answers for the real user.  If that is not the user for whom the thread's other calls
 * are checked, the ordinary call makes credentials for it.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/securebits.h>
#include <linux/user_namespace.h>
#include "fast/faccessat.h"
#include "fast/fast.h"
#include "fast/lookup.h"
#include "fast/next.h"

/* Flags of faccessat2 that are served. */
#define ACCESS_SERVED_FLAGS (AT_EACCESS | AT_SYMLINK_NOFOLLOW)

static kuid_t root_of(struct user_namespace *ns)
{
	return likely(ns == &init_user_ns) ? GLOBAL_ROOT_UID : make_kuid(ns, 0);
}

/*
 * Returns whether the real user is the one whose permissions count otherwise, and has the
 * capabilities that access(2) gives it: none, or those of root.  Only the thread itself changes
 * its credentials.
 */
static __always_inline bool user_is_real(void)
{
	const struct cred *cred = current_cred();

	if (unlikely(!uid_eq(cred->fsuid, cred->uid) || !gid_eq(cred->fsgid, cred->gid)))
		return false;
	if (issecure(SECURE_NO_SETUID_FIXUP))
		return true;
	if (uid_eq(cred->uid, root_of(cred->user_ns)))
		return cap_issubset(cred->cap_permitted, cred->cap_effective);
	return cap_isclear(cred->cap_effective);
}

static __always_inline bool mount_has_programs(const struct path *path)
{
	return !(READ_ONCE(path->mnt->mnt_flags) & MNT_NOEXEC) &&
	       !(path->mnt->mnt_sb->s_iflags & SB_I_NOEXEC);
}

static __always_inline s64 access_check(const struct path *path, u32 mode)
{
	struct inode *inode = d_backing_inode(path->dentry);
	umode_t kind = READ_ONCE(inode->i_mode);
	s64 error;

	if ((mode & MAY_EXEC) && S_ISREG(kind) && !mount_has_programs(path))
		return -EACCES;
	error = inode_permission(cosy_mnt_idmap(path->mnt), inode, mode | MAY_ACCESS);
	if (error || !(mode & MAY_WRITE) || special_file(kind))
		return error;
	return __mnt_is_readonly(path->mnt) ? -EROFS : 0;
}

bool cosy_user_is_real(void)
{
	return user_is_real();
}

s64 cosy_access_check(const struct path *path, u32 mode)
{
	return access_check(path, mode);
}

static __always_inline s64 access_path(struct cosy_activation *run, const struct path *path,
				       void *mode)
{
	return access_check(path, *(u32 *)mode);
}

static noinline s64 access_named(struct cosy_activation *run, s32 dirfd, u64 name, u32 mode,
				 s32 flags)
{
	const bool follow = !(flags & AT_SYMLINK_NOFOLLOW);

	if (unlikely((mode & ~S_IRWXO) || (flags & ~ACCESS_SERVED_FLAGS)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (unlikely(!(flags & AT_EACCESS) && !user_is_real()))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	/* Programs query a name several times, or the names of a directory in turn. */
	return cosy_use_named(run, dirfd, name, follow, access_path, &mode);
}

s64 cosy_fast_access(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, access_named(run, AT_FDCWD, r[1], r[2], 0));
}

s64 cosy_fast_faccessat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, access_named(run, r[1], r[2], r[3], 0));
}

s64 cosy_fast_faccessat2(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, access_named(run, r[1], r[2], r[3], r[4]));
}
