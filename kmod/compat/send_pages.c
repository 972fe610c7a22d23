// SPDX-License-Identifier: GPL-2.0
/* send_pages.c - sends pages by MSG_SPLICE_PAGES, or before Linux 6.5 by sendpage. */
#include <linux/bvec.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include "compat/compat.h"
#include "compat/send_pages.h"

#ifdef COSY_HAVE_SENDPAGE

/* Sends one page at a time. */
s64 cosy_send_pages(struct socket *socket, struct bio_vec *piece, u32 pieces, u32 count, int flags)
{
	s64 done = 0;
	u32 i;

	for (i = 0; i < pieces; i++) {
		bool last = i == pieces - 1;
		int ret = kernel_sendpage(socket, piece[i].bv_page, piece[i].bv_offset,
					  piece[i].bv_len,
					  last ? flags : flags | MSG_MORE | MSG_SENDPAGE_NOTLAST);

		if (ret < 0)
			return done ? done : ret;
		done += ret;
		if (ret < piece[i].bv_len)
			break;
	}
	return done;
}

#else

/* Returns whether a piece begins where another ends, in the next page. */
static bool piece_follows(const struct bio_vec *piece, const struct bio_vec *last)
{
	u32 end = last->bv_offset + last->bv_len;

	return !(end % PAGE_SIZE) && !piece->bv_offset &&
	       piece->bv_page == last->bv_page + end / PAGE_SIZE;
}

/*
 * Joins pieces of pages that follow each other, and returns how many are left: the kernel finds the
 * pages of a piece at once, and takes a reference to each.
 */
static u32 pieces_join(struct bio_vec *piece, u32 pieces)
{
	u32 joined = 0, i;

	for (i = 0; i < pieces; i++) {
		if (joined && piece_follows(&piece[i], &piece[joined - 1]))
			piece[joined - 1].bv_len += piece[i].bv_len;
		else
			piece[joined++] = piece[i];
	}
	return joined;
}

s64 cosy_send_pages(struct socket *socket, struct bio_vec *piece, u32 pieces, u32 count, int flags)
{
	struct msghdr message = { .msg_flags = flags | MSG_SPLICE_PAGES };

	pieces = pieces_join(piece, pieces);
	iov_iter_bvec(&message.msg_iter, ITER_SOURCE, piece, pieces, count);
	return sock_sendmsg(socket, &message);
}

#endif
