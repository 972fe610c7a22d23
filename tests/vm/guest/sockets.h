/* SPDX-License-Identifier: MIT */
/* sockets.h - a TCP connection of a process to itself, and descriptors sent by Unix sockets. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "check.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Makes a TCP connection: ends[0] is the one that connected. */
HELPER void tcp_pair(int ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	MUST(listener >= 0 && !bind(listener, (struct sockaddr *)&address, size) &&
	     !listen(listener, 1));
	MUST(!getsockname(listener, (struct sockaddr *)&address, &size));
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	MUST(!connect(ends[0], (struct sockaddr *)&address, size));
	ends[1] = accept(listener, NULL, NULL);
	MUST(ends[1] >= 0 && !close(listener));
}

HELPER void send_fd(int socket, int fd)
{
	char byte = 'x', control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);

	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), &fd, sizeof(int));
	MUST(sendmsg(socket, &message, 0) == 1);
}

/* Returns the descriptor of the next message; -1 at the end. */
HELPER int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0 || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return fd;
}

#endif /* SOCKETS_H */
