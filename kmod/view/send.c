// SPDX-License-Identifier: GPL-2.0
/*
 * send.c - send(2) of a view: the socket copies the bytes out of the page cache itself.
 *
 * The call copies what it is given before it returns, wherever that lies.  What is left out is the
 * copy into the shared buffer: while a call waits for room in the socket, what others write to the
 * file is seen, as in any view.  The pages themselves go only by lend.
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include "compat/compat.h"
#include "fast/fast.h"
#include "load/program.h"
#include "view/view.h"

/* Flags of send(2) that ask for nothing else than bytes to be copied. */
#define FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)

/* Tells whether the socket is known to copy from pages as it copies from a user's memory. */
static bool send_copies(const struct socket *socket)
{
	struct sock *sk = socket->sk;

	if (!sk || socket->type != SOCK_STREAM)
		return false;
	switch (sk->sk_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
	case AF_INET6:
		/* TLS and others above TCP have ways of their own. */
		return sk->sk_protocol == IPPROTO_TCP && !inet_csk_has_ulp(sk);
	default:
		return false;
	}
}

static s64 view_send(struct cosy_activation *run, struct file *file,
		     const struct cosy_page_view *view, u32 within, u32 count, u32 flags)
{
	struct socket *socket = sock_from_file(file);
	struct bio_vec piece[COSY_VIEW_PIECES] __cosy_uninitialized;
	struct msghdr message = { .msg_flags = flags };
	u32 pieces;

	if (unlikely(!socket || !send_copies(socket)))
		return cosy_guard_failed(run, COSY_GUARD_PEER);
	pieces = cosy_view_pieces(view, within, count, piece);
	if (file->f_flags & O_NONBLOCK)
		message.msg_flags |= MSG_DONTWAIT;
	iov_iter_bvec(&message.msg_iter, ITER_SOURCE, piece, pieces, count);
	return cosy_call_result(run, sock_sendmsg(socket, &message));
}

s64 cosy_fast_sendto(struct cosy_activation *run, const u64 *r)
{
	u64 address = r[2], count = r[3], peer = r[5];
	u32 flags = r[4];
	const struct cosy_page_view *view;
	s64 result = COSY_ORDINARY;
	struct fd f;

	if (unlikely(peer || flags & ~FLAGS))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	view = count ? cosy_view_find(run, address, count) : NULL;
	if (!view)
		return cosy_guard_failed(run, COSY_GUARD_VIEW);
	f = fdget(r[1]);
	if (likely(fd_file(f)))
		result =
			view_send(run, fd_file(f), view,
				  address - run->prog->buffer_address - view->offset, count, flags);
	fdput(f);
	return result;
}
