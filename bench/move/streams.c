// SPDX-License-Identifier: MIT
/* streams.c - see move.h. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "move.h"

#define ROOM (64 << 20) /* bytes that a socket may hold */

void read_all(int fd, char *memory, size_t bytes)
{
	for (size_t done = 0; done < bytes;)
		done += (size_t)TRY(read(fd, memory + done, bytes - done) ?: -1);
}

void write_all(int fd, const char *memory, size_t bytes)
{
	for (size_t done = 0; done < bytes;)
		done += (size_t)TRY(write(fd, memory + done, bytes - done));
}

void loan_all(int fd, const char *memory, size_t bytes)
{
	for (size_t done = 0; done < bytes;)
		done += (size_t)TRY(cosy_loan(fd, memory + done, bytes - done, 0));
}

void transfer_all(int fd, char *memory, size_t bytes, int flags)
{
	for (size_t done = 0; done < bytes;)
		done += (size_t)TRY(cosy_transfer(fd, memory + done, bytes - done, flags) ?: -1);
}

/* Sends or receives one byte with a descriptor. */
static long fd_move(int sock, int *fd, ssize_t (*move)(int, struct msghdr *, int))
{
	char c = 0, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec piece = {&c, 1};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);
	long ret;

	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), fd, sizeof(int));
	ret = move(sock, &message, 0);
	memcpy(fd, CMSG_DATA(part), sizeof(int));
	return ret;
}

static ssize_t send_message(int sock, struct msghdr *message, int flags)
{
	return sendmsg(sock, message, flags);
}

void fd_send(int sock, int fd)
{
	TRY(fd_move(sock, &fd, send_message));
}

int fd_receive(int sock)
{
	int fd = -1;

	TRY(fd_move(sock, &fd, recvmsg) ?: -1);
	return fd;
}

void pipe_new(int *ends)
{
	TRY(pipe(ends));
	TRY(fcntl(ends[1], F_SETPIPE_SZ, (int)MAX_BYTES));
}

static void buffer_resize(int sock, int option, int bytes)
{
	TRY(setsockopt(sock, SOL_SOCKET, option, &bytes, sizeof(bytes)));
}

void unix_new(int *ends)
{
	TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	buffer_resize(ends[1], SO_SNDBUFFORCE, ROOM);
}

/* The peer's buffer bounds the window that it offers from the beginning. */
static void tcp_connect(int *ends, int room)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listener = (int)TRY(socket(AF_INET, SOCK_STREAM, 0));

	buffer_resize(listener, SO_RCVBUFFORCE, room);
	TRY(bind(listener, (struct sockaddr *)&address, length));
	TRY(listen(listener, 1));
	TRY(getsockname(listener, (struct sockaddr *)&address, &length));
	ends[1] = (int)TRY(socket(AF_INET, SOCK_STREAM, 0));
	TRY(connect(ends[1], (struct sockaddr *)&address, length));
	ends[0] = (int)TRY(accept(listener, NULL, NULL));
	close(listener);
	buffer_resize(ends[1], SO_SNDBUFFORCE, ROOM);
}

void tcp_new(int *ends)
{
	tcp_connect(ends, ROOM);
}

void tcp_narrow_new(int *ends)
{
	tcp_connect(ends, NARROW / 4);
}

char *memory_new(void)
{
	char *memory =
		mmap(NULL, MAX_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	madvise(memory, MAX_BYTES, MADV_NOHUGEPAGE);
	memset(memory, 1, MAX_BYTES);
	return memory;
}
