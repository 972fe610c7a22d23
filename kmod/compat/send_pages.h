/* SPDX-License-Identifier: GPL-2.0 */
/* send_pages.h - gives pages to a socket, which keeps references until they are sent. */
#ifndef COSY_COMPAT_SEND_PAGES_H
#define COSY_COMPAT_SEND_PAGES_H

#include <linux/types.h>

struct bio_vec;
struct socket;

/*
 * Sends the `count` bytes of all pieces; may join pieces in the array.  Returns the number of bytes
 * sent, or an error if none were.
 */
s64 cosy_send_pages(struct socket *socket, struct bio_vec *piece, u32 pieces, u32 count, int flags);

#endif /* COSY_COMPAT_SEND_PAGES_H */
