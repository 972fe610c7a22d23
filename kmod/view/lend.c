// SPDX-License-Identifier: GPL-2.0
/*
 * lend.c - gives a view's pages to a socket, which keeps them until they are sent.
 *
 * As with sendfile(2), the socket sends the bytes that the page has at that time: a write to the
 * file in between shows.  So pages are lent only if the program requests it by name.
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include <linux/unistd.h>
#include "compat/compat.h"
#include "compat/send_pages.h"
#include "fast/fast.h"
#include "fast/site.h"
#include "fast/socket_kind.h"
#include "load/program.h"
#include "run/ordinary.h"
#include "view/view.h"

static s64 view_lend_pages(struct cosy_activation *run, struct file *file, struct socket *socket,
			   const struct cosy_page_view *view, u32 within, u32 count, int flags)
{
	struct bio_vec piece[COSY_VIEW_PIECES] __cosy_uninitialized;
	u32 pieces = cosy_view_pieces(view, within, count, piece);
	loff_t none = 0;
	s64 result;

	/* sendfile asks this, too. */
	result = rw_verify_area(WRITE, file, &none, count);
	if (unlikely(result))
		return cosy_call_result(run, result);
	if (file->f_flags & O_NONBLOCK)
		flags |= MSG_DONTWAIT;
	return cosy_call_result(run, cosy_send_pages(socket, piece, pieces, count, flags));
}

static s64 view_lend_to(struct cosy_activation *run, struct file *file, u64 address, u64 count,
			u64 flags)
{
	struct socket *socket = sock_from_file(file);
	const struct cosy_page_view *view;

	if (unlikely(flags & ~(u64)COSY_VIEW_SEND_FLAGS))
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	/* A socket that keeps messages apart must not get one in pieces. */
	if (unlikely(!(cosy_socket_kind(socket) & COSY_SOCKET_STREAMS)))
		return cosy_guard_failed(run, COSY_GUARD_PEER);
	view = count ? cosy_view_find(run, address, count) : NULL;
	/* Kept stores lie in memory that must not be lent. */
	if (!view || view->stores)
		return cosy_guard_failed(run, COSY_GUARD_VIEW);
	return view_lend_pages(run, file, socket, view,
			       cosy_buffer_offset(run->prog, address) - view->offset, count, flags);
}

/*
 * Lends a view's pages to a socket.  Where there is nothing to lend, a socket is sent to, anything
 * else written to.
 */
s64 cosy_op_lend(struct cosy_activation *run, u64 *r)
{
	struct fd f = fdget(r[1]);
	s64 result = COSY_ORDINARY;
	bool sends = true;

	if (fd_file(f)) {
		sends = sock_from_file(fd_file(f));
		if (sends)
			result = view_lend_to(run, fd_file(f), r[2], r[3], r[4]);
	}
	fdput(f);
	if (!sends)
		result = cosy_site_try(run, r, cosy_fast_write);
	if (likely(result != COSY_ORDINARY)) {
		run->fast++;
		return result;
	}
	return cosy_ordinary(run, sends ? __NR_sendto : __NR_write, r[1], r[2], r[3],
			     sends ? r[4] : 0);
}
