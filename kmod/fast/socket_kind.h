/* SPDX-License-Identifier: GPL-2.0 */
/*
 * socket_kind.h - the kinds of sockets that specialised versions may rely on, in one table.
 *
 * A socket's type is not enough.  SCTP's one-to-one sockets are SOCK_STREAM and keep message
 * boundaries.  AF_ALG's sockets receive only into user memory on Linux 6.1.  So a family and
 * protocol that the table does not list gets ordinary calls.
 */
#ifndef COSY_SOCKET_KIND_H
#define COSY_SOCKET_KIND_H

#include <linux/bits.h>
#include <linux/types.h>

struct socket;

/* No boundaries between messages.  A message may go in pieces, and pages of it may be lent. */
#define COSY_SOCKET_STREAMS BIT(0)
/* A send copies from the pages of a bvec as from user memory, and waits as it does from there. */
#define COSY_SOCKET_COPIES BIT(1)
/* A receive copies into kernel memory as into user memory. */
#define COSY_SOCKET_READS BIT(2)
/* A receive that fails with EFAULT has taken nothing, and harmed nothing: it may be made again. */
#define COSY_SOCKET_KEEPS BIT(3)

/* Returns the abilities of the kind of `socket`; 0 for one that the table does not have. */
u32 cosy_socket_kind(const struct socket *socket);

#endif /* COSY_SOCKET_KIND_H */
