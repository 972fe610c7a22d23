// SPDX-License-Identifier: GPL-2.0
/*
 * view_write.c - write(2) and pwrite(2) of bytes that the kernel can reach: a view's pages, the
 * shared buffer, or a copy of a few bytes from elsewhere.
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/fsnotify.h>
#include <linux/sched/xacct.h>
#include <linux/uio.h>
#include "compat/compat.h"
#include "context.h"
#include "fast/fast.h"
#include "fast/descriptor.h"
#include "fast/fresh.h"
#include "fast/page_cache.h"
#include "load/program.h"
#include "run/ordinary.h"
#include "view/view.h"
#include "view/write.h"

/*
 * Makes the file system's own write from a view's pages: does what vfs_write does, with another
 * source.
 */
static s64 view_write_pages(struct cosy_activation *run, const struct cosy_writing *write,
			    const struct cosy_page_view *view, u64 address)
{
	u32 within = cosy_buffer_offset(run->prog, address) - view->offset;
	struct bio_vec piece[COSY_VIEW_PIECES] __cosy_uninitialized;
	struct file *file = write->file;
	loff_t position = write->asked;
	struct iov_iter from;
	struct kiocb kiocb;
	ssize_t ret;

	ret = rw_verify_area(WRITE, file, &position, write->count);
	if (unlikely(ret)) {
		run->fresh.wanted = NULL;
		return cosy_call_result(run, ret);
	}
	iov_iter_bvec(&from, ITER_SOURCE, piece,
		      cosy_view_pieces(view, within, write->count, piece), write->count);
	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = position;
	/* A frozen file system may stay so for long: only the ordinary call waits. */
	if (unlikely(!file_start_write_trylock(file)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	ret = file->f_op->write_iter(&kiocb, &from);
	if (run->fresh.wanted)
		cosy_fresh_end(&run->fresh, &run->context->fresh, ret);
	if (unlikely(ret == -ENOSPC)) {
		/* To make room tmpfs splits huge pages, which it cannot while a view holds them. */
		file_end_write(file);
		return cosy_guard_failed(run, COSY_GUARD_VIEW);
	}
	if (ret > 0)
		*write->end = kiocb.ki_pos;
	cosy_write_done(file, ret);
	file_end_write(file);
	return cosy_call_result(run, ret);
}

static __always_inline s64 view_write_file(struct cosy_activation *run,
					   const struct cosy_writing *write, u64 address)
{
	const struct file *file = write->file;
	const struct cosy_page_view *view = NULL;
	bool same = false;
	s64 result;

	/* The place of an appending write is known only when the inode is locked. */
	if (cosy_has_views(run))
		view = cosy_views_write_back_file(run, file->f_mapping,
						  unlikely(write->appends) ? -1 : write->position,
						  address, write->count, &same);
	result = cosy_cached_write(run, write, address);
	if (result != COSY_ORDINARY)
		return result;
	/* The file system would copy a page onto itself. */
	if (!view || same)
		return cosy_guard_failed(run, COSY_GUARD_VIEW);
	return view_write_pages(run, write, view, address);
}

/* Writes bytes that are not in the shared buffer.  Others may change them: see the copy only. */
static noinline s64 view_write_small(struct cosy_activation *run, struct cosy_writing *write,
				     u64 address)
{
	u8 copy[COSY_MAX_SMALL_WRITE] __aligned(sizeof(u64)) __cosy_uninitialized;

	if (unlikely(write->count > sizeof(copy) ||
		     copy_from_user_nofault(copy, u64_to_user_ptr(address), write->count)))
		return cosy_guard_failed(run, COSY_GUARD_MEMORY);
	write->copy = copy;
	return view_write_file(run, write, address);
}

/* Makes the write at position `asked` from `address`, wherever that is. */
static __always_inline s64 view_write_from(struct cosy_activation *run, struct cosy_writing *write,
					   loff_t asked, u64 address)
{
	const struct cosy_program *prog = run->prog;
	u64 offset = cosy_buffer_offset(prog, address);

	if (unlikely(!(write->file->f_mode & FMODE_WRITE)))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	write->asked = write->position = asked;
	write->appends = write->file->f_flags & O_APPEND;
	if (unlikely(write->appends))
		write->position = i_size_read(file_inode(write->file));
	if (unlikely(!cosy_buffer_has(prog, offset, write->count) || READ_ONCE(*prog->gone)))
		return view_write_small(run, write, address);
	write->copy = NULL;
	return view_write_file(run, write, address);
}

s64 cosy_fast_write(struct cosy_activation *run, const u64 *r)
{
	u64 address = r[2], count = r[3];
	struct cosy_writing write __cosy_uninitialized;
	bool locked;
	struct fd f;
	s64 result;

	if (unlikely(count - 1 >= COSY_MAX_WRITE))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	f = cosy_descriptor_get(run, r[1]);
	if (unlikely(!fd_file(f)))
		return cosy_guard_failed(run, run->refused);
	write.file = fd_file(f);
	write.count = count;
	write.end = &write.file->f_pos;
	locked = cosy_position_lock(write.file);
	result = view_write_from(run, &write, write.file->f_pos, address);
	cosy_position_unlock(write.file, locked);
	fdput(f);
	return result;
}

s64 cosy_fast_pwrite64(struct cosy_activation *run, const u64 *r)
{
	u64 address = r[2], count = r[3], position = r[4];
	struct cosy_writing write __cosy_uninitialized;
	loff_t end;
	struct fd f;
	s64 result;

	if (unlikely(count - 1 >= COSY_MAX_WRITE || (s64)position < 0))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	f = cosy_descriptor_get(run, r[1]);
	if (unlikely(!fd_file(f)))
		return cosy_guard_failed(run, run->refused);
	write.file = fd_file(f);
	write.count = count;
	write.end = &end;
	result = view_write_from(run, &write, position, address);
	fdput(f);
	return result;
}
