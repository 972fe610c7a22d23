// SPDX-License-Identifier: GPL-2.0
/*
 * send.c - send(2) of a view: the socket copies the bytes from the page cache itself.
 *
 * The call copies the bytes before it returns, as any send does, so only the copy into the shared
 * buffer is omitted.  Bytes that must wait for room in the socket are first copied there, so no
 * folio is referenced meanwhile.  Only lend passes the pages themselves.
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include "compat/compat.h"
#include "fast/descriptor.h"
#include "fast/fast.h"
#include "fast/socket_kind.h"
#include "load/program.h"
#include "run/held.h"
#include "run/ordinary.h"
#include "view/view.h"

/* Copies all views into the shared buffer, then sends bytes from there and waits for room. */
static s64 send_waiting(struct cosy_activation *run, struct socket *socket, u64 address, u64 count,
			u32 flags)
{
	struct msghdr message = { .msg_flags = flags };
	int error;

	cosy_held_drop(run);
	cosy_descriptors_forget(&run->descriptors);
	error = cosy_import_user(ITER_SOURCE, (void __user *)address, count, &message.msg_iter);
	return error ? error : sock_sendmsg(socket, &message);
}

static s64 view_send(struct cosy_activation *run, struct file *file,
		     const struct cosy_page_view *view, u64 address, u32 count, u32 flags)
{
	struct socket *socket = sock_from_file(file);
	struct bio_vec piece[COSY_VIEW_PIECES] __cosy_uninitialized;
	struct msghdr message = { .msg_flags = flags | MSG_DONTWAIT };
	u32 within = cosy_buffer_offset(run->prog, address) - view->offset, pieces;
	s64 sent, rest;

	if (unlikely(!socket || !(cosy_socket_kind(socket) & COSY_SOCKET_COPIES)))
		return cosy_guard_failed(run, COSY_GUARD_PEER);
	pieces = cosy_view_pieces(view, within, count, piece);
	iov_iter_bvec(&message.msg_iter, ITER_SOURCE, piece, pieces, count);
	sent = sock_sendmsg(socket, &message);
	if (likely(sent == count) || (sent < 0 && sent != -EAGAIN) || flags & MSG_DONTWAIT ||
	    file->f_flags & O_NONBLOCK)
		return cosy_call_result(run, sent);
	if (sent < 0)
		return cosy_call_result(run, send_waiting(run, socket, address, count, flags));
	/* A call that has sent something succeeds. */
	rest = send_waiting(run, socket, address + sent, count - sent, flags | MSG_NOSIGNAL);
	return rest > 0 ? sent + rest : sent;
}

s64 cosy_fast_sendto(struct cosy_activation *run, const u64 *r)
{
	u64 address = r[2], count = r[3], peer = r[5];
	u32 flags = r[4];
	const struct cosy_page_view *view;
	s64 result = COSY_ORDINARY;
	struct fd f;

	if (unlikely(peer || flags & ~COSY_VIEW_SEND_FLAGS))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	view = count ? cosy_view_find(run, address, count) : NULL;
	if (!view)
		return cosy_guard_failed(run, COSY_GUARD_VIEW);
	f = fdget(r[1]);
	if (likely(fd_file(f)))
		result = view_send(run, fd_file(f), view, address, count, flags);
	fdput(f);
	return result;
}
