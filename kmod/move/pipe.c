// SPDX-License-Identifier: GPL-2.0
/*
 * pipe.c - see pipe.h.
 *
 * A page in a pipe needs no code of the module: its buffer has the kernel's own operations.  So the
 * module can be unloaded, and every way to read the pipe works.
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/splice.h>
#include "compat/compat.h"
#include "move/arena.h"
#include "move/checks.h"
#include "move/pipe.h"
#include "move/slots.h"

static struct pipe_inode_info *pipe_of(struct file *file)
{
	struct inode *inode = file_inode(file);

	if (!S_ISFIFO(inode->i_mode) || inode->i_pipe != file->private_data)
		return NULL;
	return inode->i_pipe;
}

bool cosy_pipe_takes(struct file *file)
{
	struct pipe_inode_info *pipe = pipe_of(file);

	/* With O_DIRECT each write is a message. */
	return pipe && !(file->f_flags & O_DIRECT) && !pipe_has_watch_queue(pipe);
}

bool cosy_pipe_gives(struct file *file)
{
	struct pipe_inode_info *pipe = pipe_of(file);

	return pipe && !pipe_has_watch_queue(pipe);
}

static bool pipe_seems_full(const struct pipe_inode_info *pipe)
{
	return pipe_full(READ_ONCE(pipe->head), READ_ONCE(pipe->tail), READ_ONCE(pipe->max_usage));
}

static bool pipe_seems_empty(const struct pipe_inode_info *pipe)
{
	return pipe_empty(READ_ONCE(pipe->head), READ_ONCE(pipe->tail));
}

static void pipe_wake_readers(struct pipe_inode_info *pipe)
{
	wake_up_interruptible_sync_poll(&pipe->rd_wait, EPOLLIN | EPOLLRDNORM);
	kill_fasync(&pipe->fasync_readers, SIGIO, POLL_IN);
}

static void pipe_wake_writers(struct pipe_inode_info *pipe)
{
	wake_up_interruptible_sync_poll(&pipe->wr_wait, EPOLLOUT | EPOLLWRNORM);
	kill_fasync(&pipe->fasync_writers, SIGIO, POLL_OUT);
}

/* Puts in as many pieces as there is room for, and returns how many; the pipe is locked. */
static u32 pipe_fill(struct pipe_inode_info *pipe, const struct bio_vec *pieces, u32 count)
{
	u32 i;

	for (i = 0; i < count && !pipe_full(pipe->head, pipe->tail, pipe->max_usage); i++) {
		pipe->bufs[pipe->head & (pipe->ring_size - 1)] = (struct pipe_buffer){
			.page = pieces[i].bv_page,
			.offset = pieces[i].bv_offset,
			.len = pieces[i].bv_len,
			.ops = &nosteal_pipe_buf_ops,
		};
		pipe->head++;
	}
	return i;
}

long cosy_pipe_put(struct file *file, const struct bio_vec *pieces, u32 count)
{
	struct pipe_inode_info *pipe = pipe_of(file);
	long error = 0;
	u32 done = 0;

	pipe_lock(pipe);
	for (;;) {
		bool was_empty = pipe_empty(pipe->head, pipe->tail);
		u32 now;

		if (!pipe->readers) {
			send_sig(SIGPIPE, current, 0);
			error = -EPIPE;
			break;
		}
		now = pipe_fill(pipe, pieces + done, count - done);
		done += now;
		if (now && (was_empty || cosy_pipe_edge_triggered(pipe)))
			pipe_wake_readers(pipe);
		if (done == count)
			break;
		if (file->f_flags & O_NONBLOCK) {
			error = -EAGAIN;
			break;
		}
		pipe_unlock(pipe);
		error = wait_event_interruptible(pipe->wr_wait, !READ_ONCE(pipe->readers) ||
									!pipe_seems_full(pipe));
		pipe_lock(pipe);
		if (error)
			break;
	}
	/* Other writers are woken one after the other. */
	if (!pipe_full(pipe->head, pipe->tail, pipe->max_usage) && wq_has_sleeper(&pipe->wr_wait))
		pipe_wake_writers(pipe);
	pipe_unlock(pipe);
	return done ? done : error;
}

/*
 * Returns whether write(2) filled the buffer.  The operations of such buffers have no name outside
 * of the kernel's fs/pipe.c, but one of the functions has.  Where it has another name, their pages
 * are copied.
 */
static bool buffer_is_written(const struct pipe_buffer *buffer)
{
	static const struct pipe_buf_operations *written;
	const struct pipe_buf_operations *known = READ_ONCE(written);
	char name[48];

	if (known)
		return buffer->ops == known;
	if (!buffer->ops->release)
		return false;
	snprintf(name, sizeof(name), "%ps", buffer->ops->release);
	if (strcmp(name, "anon_pipe_buf_release"))
		return false;
	WRITE_ONCE(written, buffer->ops);
	return true;
}

/*
 * Returns whether the buffer is a whole page that is constant once the buffer's own reference is
 * ours.  It is when the page is frozen, or when write(2) filled it, which appends to no full one,
 * and no other buffer has it.
 */
static bool buffer_is_whole(const struct pipe_buffer *buffer)
{
	struct page *page = buffer->page;

	if (buffer->offset || buffer->len != PAGE_SIZE || PageCompound(page) ||
	    buffer->flags & ~PIPE_BUF_FLAG_CAN_MERGE)
		return false;
	if (buffer->ops == &nosteal_pipe_buf_ops)
		return cosy_page_has_mark(page);
	return buffer_is_written(buffer) && page_count(page) == 1 && !page->mapping;
}

/* Takes whole pages out, and returns how many; the pipe is locked. */
static u32 pipe_drain(struct pipe_inode_info *pipe, struct page **pages, u32 count)
{
	u32 mask = pipe->ring_size - 1, filled = pipe_occupancy(pipe->head, pipe->tail), i;
	bool checked = cosy_pages_checked();

	count = min(count, filled);
	for (i = 0; i < count; i++) {
		struct pipe_buffer *buffer = &pipe->bufs[(pipe->tail + i) & mask];

		if (!buffer_is_whole(buffer))
			break;
		pages[i] = buffer->page;
		if (unlikely(checked) && cosy_page_has_mark(pages[i]))
			cosy_page_check(pages[i]);
		/*
		 * The buffer's reference is the caller's now: releasing the buffer would only have
		 * dropped it.
		 */
		buffer->ops = NULL;
	}
	pipe->tail += i;
	return i;
}

long cosy_pipe_take(struct file *file, struct page **pages, u32 count, bool more)
{
	struct pipe_inode_info *pipe = pipe_of(file);
	bool was_full;
	long ret;

	pipe_lock(pipe);
	while (pipe_empty(pipe->head, pipe->tail)) {
		ret = 0;
		if (more || !pipe->writers)
			goto out;
		ret = -EAGAIN;
		if (file->f_flags & O_NONBLOCK)
			goto out;
		pipe_unlock(pipe);
		ret = wait_event_interruptible(pipe->rd_wait, !READ_ONCE(pipe->writers) ||
								      !pipe_seems_empty(pipe));
		pipe_lock(pipe);
		if (ret)
			goto out;
	}
	was_full = pipe_full(pipe->head, pipe->tail, pipe->max_usage);
	ret = pipe_drain(pipe, pages, count);
	if (ret && was_full)
		pipe_wake_writers(pipe);
	if (!ret)
		ret = -EOPNOTSUPP;
out:
	/* Other readers are woken one after the other. */
	if (!pipe_empty(pipe->head, pipe->tail) && wq_has_sleeper(&pipe->rd_wait))
		pipe_wake_readers(pipe);
	pipe_unlock(pipe);
	return ret;
}
