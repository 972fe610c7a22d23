/* SPDX-License-Identifier: GPL-2.0 */
/* pipe.h - puts pages into pipes and takes them out. */
#ifndef COSY_MOVE_PIPE_H
#define COSY_MOVE_PIPE_H

#include <linux/types.h>

struct bio_vec;
struct file;
struct page;

/*
 * Tell whether pages can be put into the file, or taken from it: it is a pipe that has no
 * messages.
 */
bool cosy_pipe_takes(struct file *file);
bool cosy_pipe_gives(struct file *file);

/*
 * Puts pieces of frozen pages into a pipe, as write(2) does: waits for room for each of them,
 * unless the file does not block.  Returns how many went, with the references to their pages; or
 * -EAGAIN, -EPIPE (and SIGPIPE), -ERESTARTSYS when none did.
 */
long cosy_pipe_put(struct file *file, const struct bio_vec *pieces, u32 count);

/*
 * Takes up to `count` whole pages whose bytes nobody will change from a pipe, as read(2) does.
 * Waits for the first, unless these are `more` after others.  Returns how many are in `pages`,
 * with references; 0 at the end of the file, and when there are no more after others; -EOPNOTSUPP:
 * the first piece is no such page, and read(2) can read it; -EAGAIN, -ERESTARTSYS.
 */
long cosy_pipe_take(struct file *file, struct page **pages, u32 count, bool more);

#endif /* COSY_MOVE_PIPE_H */
