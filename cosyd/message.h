/* SPDX-License-Identifier: MIT */
/* message.h - sends and receives messages of a fixed size that may carry a descriptor. */
#ifndef COSYD_MESSAGE_H
#define COSYD_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Sends `len` bytes and `fd`, unless that is -1; `flags` as for send(2).  Returns 0 or a negative
 * errno.
 */
int message_send(int socket, const void *bytes, size_t len, int fd, int flags);

/*
 * Receives at most `len` bytes.  Returns their number, 0 at the end, or a negative errno:
 * -EBADMSG for a message that was longer, or carried anything but one descriptor.  *ret_fd
 * is the descriptor, which the caller closes, or -1.
 */
ssize_t message_receive(int socket, void *bytes, size_t len, int *ret_fd);

#endif /* COSYD_MESSAGE_H */
