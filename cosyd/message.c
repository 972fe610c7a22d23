// SPDX-License-Identifier: MIT
/* message.c - see message.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "message.h"

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

int message_send(int socket, const void *bytes, size_t len, int fd, int flags)
{
	struct iovec part = {.iov_base = (void *)bytes, .iov_len = len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {.header = {.cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS,
					    .cmsg_len = CMSG_LEN(sizeof(int))}};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
	}
	while (sendmsg(socket, &message, flags | MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

ssize_t message_receive(int socket, void *bytes, size_t len, int *ret_fd)
{
	struct iovec part = {.iov_base = bytes, .iov_len = len};
	union control control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 /* Without the padding, which has room for a second descriptor. */
				 .msg_controllen = CMSG_LEN(sizeof(int))};
	struct cmsghdr *rights;
	ssize_t got;

	*ret_fd = -1;
	do {
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	rights = CMSG_FIRSTHDR(&message);
	if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
	    rights->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(rights), sizeof(int));
	if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) && (!rights || *ret_fd >= 0))
		return got;
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = -1;
	return -EBADMSG;
}
