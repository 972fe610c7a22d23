/* SPDX-License-Identifier: GPL-2.0 */
/* socket.h - gives pages to sockets. */
#ifndef COSY_MOVE_SOCKET_H
#define COSY_MOVE_SOCKET_H

#include <linux/types.h>

struct bio_vec;
struct file;

/* Returns whether pages can be lent to the file: it is a socket of a kind that streams. */
bool cosy_socket_takes(struct file *file);

/*
 * Sends `length` bytes in pieces of frozen pages, as write(2) does, or send(2) by the `flags` of a
 * MOVE.  Of the same call `done` bytes went before, and more come if `more`.  The socket takes
 * references of its own.  Returns how many bytes went, or an error when none did.
 */
long cosy_socket_put(struct file *file, struct bio_vec *pieces, u32 count, u32 length, u32 flags,
		     u64 done, bool more);

#endif /* COSY_MOVE_SOCKET_H */
