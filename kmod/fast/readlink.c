// SPDX-License-Identifier: GPL-2.0
/*
 * readlink.c - readlink and readlinkat of links whose text is in the inode, as short links are on
 * most file systems.
 *
 * lookup.h walks the path.  From there it is what readlink(2) does: vfs_get_link asks the security
 * module and returns the text, and the time of access is noted.  Links that the file system has to
 * read, and those of /proc, are left to the ordinary call.
 */
#include <linux/fs.h>
#include "fast/fast.h"
#include "fast/lookup.h"
#include "fast/next.h"

/* Writes the text of a link, without its NUL, and no more than `size` bytes. */
static s64 text_write(const struct cosy_activation *run, const char *text, u64 to, u32 size)
{
	s64 length = min_t(size_t, strlen(text), size);

	return likely(cosy_memory_write(run, to, text, length)) ? length : -EFAULT;
}

static __always_inline s64 link_read(struct cosy_activation *run, const struct path *path, u64 to,
				     u32 size)
{
	struct inode *inode = d_backing_inode(path->dentry);
	DEFINE_DELAYED_CALL(done);
	const char *text;
	s64 result;

	if (!d_is_symlink(path->dentry))
		return likely(!inode->i_op->readlink) ? -EINVAL
						      : cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (unlikely(!READ_ONCE(inode->i_link) || inode->i_op->readlink))
		return cosy_guard_failed(run, COSY_GUARD_CACHED);
	text = vfs_get_link(path->dentry, &done);
	if (IS_ERR(text))
		return PTR_ERR(text);
	touch_atime(path);
	result = text_write(run, text, to, size);
	do_delayed_call(&done);
	return result;
}

static noinline s64 readlink_named(struct cosy_activation *run, s32 dirfd, u64 name, u64 to,
				   s32 size)
{
	struct cosy_found found __cosy_uninitialized;
	s64 result;

	if (unlikely(size <= 0))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	result = cosy_find_next(run, dirfd, name, false, false);
	if (likely(!result))
		return link_read(run, &run->names.child, to, size);
	if (result != COSY_ORDINARY)
		return result;
	/* The call before this one is often lstat of the same name. */
	result = cosy_find(run, dirfd, name, false, true, &found);
	if (unlikely(result))
		return result;
	result = link_read(run, &found.path, to, size);
	cosy_found_put(run, dirfd, &found);
	return result;
}

s64 cosy_fast_readlink(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, readlink_named(run, AT_FDCWD, r[1], r[2], r[3]));
}

s64 cosy_fast_readlinkat(struct cosy_activation *run, const u64 *r)
{
	return cosy_call_result(run, readlink_named(run, r[1], r[2], r[3], r[4]));
}
