// SPDX-License-Identifier: GPL-2.0
/*
 * socket.c - see socket.h.
 *
 * A socket keeps the pages until they are received or acknowledged, and may send them again.
 * Frozen pages make this safe, unlike those of sendfile and MSG_ZEROCOPY.
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "compat/send_pages.h"
#include "fast/socket_kind.h"
#include "move/socket.h"

bool cosy_socket_takes(struct file *file)
{
	struct socket *socket = sock_from_file(file);

	return socket && cosy_socket_kind(socket) & COSY_SOCKET_STREAMS;
}

long cosy_socket_put(struct file *file, struct bio_vec *pieces, u32 count, u32 length, u32 flags,
		     u64 done, bool more)
{
	int send = 0;

	if (file->f_flags & O_NONBLOCK || flags & COSY_MOVE_DONTWAIT)
		send |= MSG_DONTWAIT;
	if (more || flags & COSY_MOVE_MORE)
		send |= MSG_MORE;
	/* A call that has sent something succeeds. */
	if (done || flags & COSY_MOVE_NOSIGNAL)
		send |= MSG_NOSIGNAL;
	return cosy_send_pages(sock_from_file(file), pieces, count, length, send);
}
