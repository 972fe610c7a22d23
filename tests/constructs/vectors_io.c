// SPDX-License-Identifier: MIT
// Structures that hold pointers: iovec and msghdr, built outside and inside.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void)
{
	char head[16] = "head-", body[16] = "body", got[40] = "", part[2][8];
	struct iovec out[2] = {{head, 5}, {body, 4}};
	int p[2], pair[2];
	long n = 0, m = 0;

	if (pipe(p) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	memset(part, 0, sizeof(part));
	COSY_START;
	struct iovec in[2] = {{got, 3}, {got + 10, 20}};
	struct iovec parts[2] = {{part[0], 4}, {part[1], 4}};
	struct msghdr msg = {.msg_iov = out, .msg_iovlen = 2};

	head[0] = 'H';
	n = writev(p[1], out, 2);
	n = n * 100 + readv(p[0], in, 2);
	m = sendmsg(pair[0], &msg, 0);
	msg.msg_iov = parts;
	m = m * 100 + recvmsg(pair[1], &msg, 0);
	COSY_END;
	printf("%ld %.3s %s %ld %s %s\n", n, got, got + 10, m, part[0], part[1]);
	return 0;
}
