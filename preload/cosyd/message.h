/* SPDX-License-Identifier: MIT */
/* message.h - messages of a fixed size that may carry a descriptor, within the daemon. */
#ifndef COSYD_MESSAGE_H
#define COSYD_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

/* Sends `len` bytes and `fd`, unless that is -1.  0 or a negative errno; `flags` as for send(2). */
int message_send(int socket, const void *bytes, size_t len, int fd, int flags);

/*
 * Receives at most `len` bytes.  The number received, 0 at the end, or a negative errno:
 * -EBADMSG for a message that was longer or carried more than one descriptor, or anything
 * else.  *ret_fd is the descriptor, the caller's to close, or -1.
 */
ssize_t message_receive(int socket, void *bytes, size_t len, int *ret_fd);

#endif /* COSYD_MESSAGE_H */
