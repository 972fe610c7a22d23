// SPDX-License-Identifier: GPL-2.0
/*
 * read.c - Synthetix's specialised read (SOSP 1995, section 3) for a compound.
 *
 * The first read of a page finds its folio and holds it.  Later reads copy from it while the guards
 * of core/guards.def hold.  Each call still does everything else that read(2) does: mode, position
 * and its lock, security module, fanotify, access time, events, accounting.
 *
 * If a guard fails in the middle of a call, the file system's own ->read_iter makes the rest,
 * because everything before has been done by then.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/magic.h>
#include <linux/net.h>
#include <linux/sched/xacct.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include "compat/compat.h"
#include "context.h"
#include "fast/descriptor.h"
#include "fast/fast.h"
#include "fast/folio_cursor.h"
#include "fast/fresh.h"
#include "fast/socket_kind.h"
#include "memory/access.h"
#include "run/held.h"
#include "run/ordinary.h"

/* Largest read served here; a longer one would need a safepoint in the middle. */
#define MAX_FAST_READ (256 << 10)

/* Pages that are found at once. */
#define READ_ROW 16

/* Locks the position, and counts guard NO_FP_SHARE where that is needed; the read goes on. */
static __always_inline bool position_lock(struct cosy_activation *run, struct file *file)
{
	bool locked = cosy_position_lock(file);

	if (unlikely(locked))
		cosy_guard_failed(run, COSY_GUARD_NO_FP_SHARE);
	return locked;
}

/* Makes the rest of a read as the file system makes it. */
static ssize_t read_rest(struct cosy_activation *run, struct file *file, struct iov_iter *to,
			 loff_t *pos)
{
	struct kiocb kiocb;
	ssize_t result;

	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = *pos;
	result = file->f_op->read_iter(&kiocb, to);
	if (result >= 0)
		*pos = kiocb.ki_pos;
	if (run->fresh.wanted)
		cosy_fresh_end(&run->fresh, &run->context->fresh, result);
	return result;
}

static noinline ssize_t read_rest_to_user(struct cosy_activation *run, struct file *file,
					  char __user *to, size_t count, loff_t *pos)
{
	struct iov_iter iter;
	int error = cosy_import_user(ITER_DEST, to, count, &iter);

	return error ? error : read_rest(run, file, &iter, pos);
}

static ssize_t read_byte_uncached(struct cosy_activation *run, struct file *file, u8 *to,
				  loff_t *pos)
{
	struct kvec vec = { .iov_base = to, .iov_len = 1 };
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_DEST, &vec, 1, 1);
	return read_rest(run, file, &iter, pos);
}

/* Returns the bytes that could not be copied. */
static __always_inline size_t read_copy_out(char __user *to, const u8 *from, size_t count)
{
	cosy_note_read(from, count);
	if (count == 1)
		return __put_user(*from, (u8 __user *)to) ? 1 : 0;
	return raw_copy_to_user(to, from, count);
}

/*
 * Returns whether a position is beyond the last byte that the file system could have: there the
 * page cache's own read does not even set the access time.  tmpfs has no such position.
 */
static bool read_is_beyond(const struct address_space *mapping, loff_t pos)
{
	return pos >= mapping->host->i_sb->s_maxbytes;
}

/* Returns bytes read, or an error.  `to` has been checked to be user memory. */
static __always_inline ssize_t read_cached(struct cosy_activation *run, struct file *file,
					   char __user *to, size_t count, loff_t *pos)
{
	struct address_space *mapping = file->f_mapping;
	size_t done = 0, bytes, left;
	struct cosy_folio_cursor *cursor;
	ssize_t result;
	loff_t end;

	if (unlikely(cosy_fresh_check(&run->fresh, mapping->host->i_sb) != COSY_GUARDS_HOLD)) {
		run->refused = COSY_GUARD_FRESH;
		goto rest;
	}
	do {
		cursor = cosy_cursor_find(run, mapping, *pos);
		if (!cursor) {
			/* As the file systems do, check for the end before looking for a page. */
			if (unlikely(*pos >= i_size_read(mapping->host))) {
				if (!done && read_is_beyond(mapping, *pos))
					return 0;
				break;
			}
			cursor = cosy_cursor_get(run, mapping, *pos, count - done);
		}
		if (unlikely(!cursor))
			goto rest;
		end = min(cosy_end_of_file(mapping), cursor->end);
		if (unlikely(*pos >= end))
			break;
		bytes = min_t(loff_t, end - *pos, count - done);
		left = read_copy_out(to + done, cosy_cursor_byte(cursor, *pos), bytes);
		done += bytes - left;
		*pos += bytes - left;
		if (unlikely(left)) {
			WRITE_ONCE(file->f_ra.prev_pos, *pos);
			cosy_file_accessed(file);
			return done ? done : -EFAULT;
		}
	} while (done < count);
	WRITE_ONCE(file->f_ra.prev_pos, *pos);
	cosy_file_accessed(file);
	return done;

rest:
	cosy_guard_failed(run, run->refused);
	if (done)
		WRITE_ONCE(file->f_ra.prev_pos, *pos);
	result = read_rest_to_user(run, file, to + done, count - done, pos);
	if (result < 0)
		return done ? done : result;
	return done + result;
}

/*
 * Reads up to `count` bytes at `pos` from pages whose folios are found at once.  As in any read of
 * several pages the end of file is looked at after all of them.  Returns bytes read: up to a page
 * that needs more care, or that reaches beyond the end of file; or to a fault, with `*fault`.
 * `again`: the read before ended in the first page, and has marked it.
 */
static __always_inline size_t read_row(struct address_space *mapping, char __user *to, size_t count,
				       loff_t pos, bool again, bool *fault)
{
	struct folio *folio[READ_ROW] __cosy_uninitialized;
	u8 *page[READ_ROW] __cosy_uninitialized;
	u32 offset = offset_in_page(pos), i;
	u32 pages = min_t(size_t, DIV_ROUND_UP(offset + count, PAGE_SIZE), READ_ROW);
	u32 got = cosy_row_get(mapping, pos >> PAGE_SHIFT, pages, folio, page);
	loff_t end = cosy_end_of_file(mapping);
	size_t done = 0, left = 0, bytes;

	for (i = 0; i < got; i++) {
		bytes = min_t(size_t, PAGE_SIZE - offset, count - done);
		if (unlikely(left || pos + done + bytes > end))
			break;
		cosy_note_read(page[i] + offset, bytes);
		left = raw_copy_to_user(to + done, page[i] + offset, bytes);
		done += bytes - left;
		offset = 0;
		if (likely(i || !again))
			cosy_folio_mark_accessed(folio[i]);
		folio_put(folio[i]);
	}
	*fault = left;
	while (unlikely(i < got))
		folio_put(folio[i++]);
	return done;
}

/* Does read_cached out of line, where it is not the main path. */
static noinline ssize_t read_cached_rest(struct cosy_activation *run, struct file *file,
					 char __user *to, size_t count, loff_t *pos)
{
	return read_cached(run, file, to, count, pos);
}

/* Does read_cached for a call for more than a page: by rows of pages, and the rest as for less. */
static noinline ssize_t read_long(struct cosy_activation *run, struct file *file, char __user *to,
				  size_t count, loff_t *pos)
{
	struct address_space *mapping = file->f_mapping;
	bool again = offset_in_page(*pos) && READ_ONCE(file->f_ra.prev_pos) == *pos, fault = false;
	size_t done = 0, bytes;
	ssize_t result;

	if (likely(cosy_fresh_check(&run->fresh, mapping->host->i_sb) == COSY_GUARDS_HOLD)) {
		do {
			bytes = read_row(mapping, to + done, count - done, *pos, again, &fault);
			again = false;
			done += bytes;
			*pos += bytes;
		} while (count - done > PAGE_SIZE && bytes && !fault);
	}
	if (likely(done == count || fault)) {
		WRITE_ONCE(file->f_ra.prev_pos, *pos);
		cosy_file_accessed(file);
		return done ? done : -EFAULT;
	}
	if (done)
		WRITE_ONCE(file->f_ra.prev_pos, *pos);
	result = read_cached_rest(run, file, to + done, count - done, pos);
	if (result < 0)
		return done ? done : result;
	return done + result;
}

/* Does what vfs_read does after a read that returned `result`. */
static __always_inline void read_note(struct file *file, ssize_t result)
{
	if (result > 0) {
		fsnotify_access(file);
		add_rchar(current, result);
	}
	inc_syscr(current);
}

/*
 * Answers a read at the end of file or above, where the file systems look for no page.  False: the
 * file system has to be asked.
 */
static __always_inline bool read_ends(struct cosy_activation *run, struct file *file, loff_t pos)
{
	const struct address_space *mapping = file->f_mapping;

	if (unlikely(cosy_fresh_check(&run->fresh, mapping->host->i_sb) != COSY_GUARDS_HOLD))
		return false;
	if (likely(!read_is_beyond(mapping, pos))) {
		WRITE_ONCE(file->f_ra.prev_pos, pos);
		cosy_file_accessed(file);
	}
	return true;
}

/*
 * Does vfs_read of more than a page, and of more than MAX_FAST_READ bytes if few are left in the
 * file: programs read small files with large buffers.  The checks are made for `asked`, the
 * caller's count.
 */
static noinline s64 read_large(struct cosy_activation *run, struct file *file, char __user *to,
			       size_t asked, loff_t *pos)
{
	const struct inode *inode = file_inode(file);
	ssize_t result, more;
	size_t count;
	loff_t left;

	if (unlikely(asked - 1 >= MAX_RW_COUNT || *pos < 0 ||
		     (asked > MAX_FAST_READ && i_size_read(inode) - *pos > MAX_FAST_READ)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	result = rw_verify_area(READ, file, pos, asked);
	if (unlikely(result))
		return result;
	/* A listener that was asked, or anybody, may have made the file longer. */
	left = i_size_read(inode) - *pos;
	if (left <= 0 && likely(read_ends(run, file, *pos)))
		goto out;
	count = left > 0 ? min3((u64)asked, (u64)left, (u64)MAX_FAST_READ) : 1;
	result = read_long(run, file, to, count, pos);
	if (unlikely(result == (ssize_t)count && count < asked && *pos < i_size_read(inode))) {
		more = read_rest_to_user(run, file, to + result, asked - result, pos);
		if (more > 0)
			result += more;
	}
out:
	read_note(file, result);
	return result;
}

/*
 * Does vfs_read for a file that cosy_cached_file has accepted, or returns COSY_ORDINARY where the
 * specialised version does not fit the call.  Errors are left to the ordinary call.
 */
static __always_inline s64 read_file(struct cosy_activation *run, struct file *file, u64 buffer,
				     u64 count, loff_t *pos)
{
	char __user *to = (char __user *)buffer;
	ssize_t result;

	if (unlikely(!access_ok(to, count)))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	if (unlikely(!(file->f_mode & FMODE_READ) || !(file->f_mode & FMODE_CAN_READ)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	if (unlikely(count - 1 >= PAGE_SIZE))
		return read_large(run, file, to, count, pos);
	result = rw_verify_area(READ, file, pos, count);
	if (unlikely(result))
		return result;
	result = read_cached(run, file, to, count, pos);
	read_note(file, result);
	return result;
}

s64 cosy_fast_read(struct cosy_activation *run, const u64 *r)
{
	struct fd fd = cosy_descriptor_get(run, r[1]);
	struct file *file = fd_file(fd);
	bool locked;
	s64 result;

	if (unlikely(!file))
		return cosy_guard_failed(run, run->refused);
	locked = position_lock(run, file);
	result = read_file(run, file, r[2], r[3], &file->f_pos);
	cosy_position_unlock(file, locked);
	fdput(fd);
	return result;
}

s64 cosy_fast_pread64(struct cosy_activation *run, const u64 *r)
{
	loff_t pos = r[4];
	struct fd fd;
	s64 result;

	if (pos < 0)
		return -EINVAL;
	fd = cosy_descriptor_get(run, r[1]);
	if (unlikely(!fd_file(fd)))
		return cosy_guard_failed(run, run->refused);
	/* Regular files of these file systems have FMODE_PREAD. */
	result = read_file(run, fd_file(fd), r[2], r[3], &pos);
	fdput(fd);
	return result;
}

/*
 * Does what ->llseek does for a new position up to the end of file, which the file system can
 * have.  Only directories have an f_version to set.
 */
static __always_inline bool position_seek(struct file *file, s64 offset, u32 whence)
{
	if (whence != SEEK_SET || offset < 0 || offset > i_size_read(file_inode(file)) ||
	    !(file->f_mode & FMODE_LSEEK))
		return false;
	file->f_pos = offset;
	return true;
}

s64 cosy_fast_lseek(struct cosy_activation *run, const u64 *r)
{
	s64 offset = r[2];
	u32 whence = r[3];
	struct file *file;
	struct fd fd;
	bool locked;
	s64 result;

	if (unlikely(whence > SEEK_END))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	fd = cosy_descriptor_get(run, r[1]);
	if (unlikely(!fd_file(fd)))
		return cosy_guard_failed(run, run->refused);
	file = fd_file(fd);
	locked = position_lock(run, file);
	result = position_seek(file, offset, whence) ? offset : vfs_llseek(file, offset, whence);
	cosy_position_unlock(file, locked);
	fdput(fd);
	return result;
}

/* --- One byte, in a register ------------------------------------------------------- */

/* Reads one byte.  Returns 1 with the byte, 0 at the end of file, or an error. */
static ssize_t read_byte_cached(struct cosy_activation *run, struct file *file, u8 *ret,
				loff_t *pos)
{
	struct address_space *mapping = file->f_mapping;
	struct cosy_folio_cursor *cursor = NULL;
	ssize_t result = 0;

	if (likely(cosy_fresh_check(&run->fresh, mapping->host->i_sb) == COSY_GUARDS_HOLD)) {
		cursor = cosy_cursor_find(run, mapping, *pos);
		if (!cursor && unlikely(*pos >= i_size_read(mapping->host))) {
			if (read_is_beyond(mapping, *pos))
				return 0;
			goto end;
		}
		if (!cursor)
			cursor = cosy_cursor_get(run, mapping, *pos, 1);
	} else {
		run->refused = COSY_GUARD_FRESH;
	}
	if (unlikely(!cursor)) {
		cosy_guard_failed(run, run->refused);
		return read_byte_uncached(run, file, ret, pos);
	}
	if (likely(*pos < cosy_end_of_file(mapping))) {
		*ret = READ_ONCE(*cosy_cursor_byte(cursor, *pos));
		WRITE_ONCE(file->f_ra.prev_pos, ++*pos);
		result = 1;
	}
end:
	cosy_file_accessed(file);
	return result;
}

/*
 * Returns whether a regular file reads into kernel memory as well as into a user's: by the page
 * cache's own function, or on a file system whose function was examined.  FUSE's was, with its
 * DIRECT_IO; 9p's was not.  Overlayfs reads as the file system below it.
 */
static bool regular_reads_to_kernel(const struct file *file)
{
	const struct inode *inode = d_real_inode(file->f_path.dentry);

	if (file->f_op->read_iter == generic_file_read_iter)
		return true;
	switch (inode->i_sb->s_magic) {
	case TMPFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case FUSE_SUPER_MAGIC:
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
		return true;
	default:
		return false;
	}
}

/* Returns whether the file reads into kernel memory; false for all that was not examined. */
static bool file_reads_to_kernel(struct file *file)
{
	umode_t mode = READ_ONCE(file_inode(file)->i_mode);
	struct socket *socket;

	if (!file->f_op->read_iter || file->f_op->read || file->f_flags & O_DIRECT)
		return false;
	if (S_ISREG(mode))
		return regular_reads_to_kernel(file);
	socket = sock_from_file(file);
	return socket ? cosy_socket_kind(socket) & COSY_SOCKET_READS : S_ISFIFO(mode);
}

static s64 read_byte(struct cosy_activation *run, struct file *file, bool cached)
{
	loff_t none = 0, *pos = file->f_mode & FMODE_STREAM ? &none : &file->f_pos;
	bool locked = position_lock(run, file);
	ssize_t result;
	u8 byte;

	result = rw_verify_area(READ, file, pos == &none ? NULL : pos, 1);
	if (likely(!result)) {
		result = cached ? read_byte_cached(run, file, &byte, pos)
				: read_byte_uncached(run, file, &byte, pos);
		if (result > 0) {
			fsnotify_access(file);
			add_rchar(current, result);
		}
		inc_syscr(current);
	}
	cosy_position_unlock(file, locked);
	if (likely(result > 0))
		return byte;
	return result ? result : -ENODATA;
}

/*
 * Reads the next byte of a file.  Returns it, -ENODATA at the end, or read's error, which may be a
 * restart code.  A byte that can only be read into a user's memory is left to the interpreter.
 */
s64 cosy_op_readc(struct cosy_activation *run, u64 *r)
{
	struct file *file;
	s64 result = -EBADF;
	struct fd fd;
	bool cached;

	fd = cosy_descriptor_get(run, r[1]);
	cached = fd_file(fd);
	if (unlikely(!cached))
		fd = fdget(r[1]);
	file = fd_file(fd);
	if (unlikely(!file || !(file->f_mode & FMODE_READ)))
		goto out;
	/* The read may wait for others, who may change viewed bytes before they wake us. */
	if (unlikely(!cached && run->held))
		cosy_held_drop(run);
	if (unlikely(!cached && !(file->f_mode & FMODE_CAN_READ && file_reads_to_kernel(file))))
		goto leave;
	result = read_byte(run, file, cached);
	/* Kernel memory does not fault, so the file needs a user's after all. */
	if (unlikely(result == -EFAULT))
		goto leave;
out:
	fdput(fd);
	run->fast++;
	return cosy_call_result(run, result);

leave:
	fdput(fd);
	cosy_leave_at(run, COSY_LEFT_NATIVE, run->insn, 0);
	return 0;
}
