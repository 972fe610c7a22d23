// SPDX-License-Identifier: MIT
/* requests.c - answers COUNT requests of a child over a socket, each with a head and a piece. */
#include <sys/socket.h>
#include <sys/wait.h>

#include "process.h"

static void requests_make(int fd, long count)
{
	char request[64], reply[2048];

	for (long i = 0; i < count; i++) {
		int size = snprintf(request, sizeof(request), "GET /%ld HTTP/1.0\r\n\r\n", i % 100);

		if (write(fd, request, size) != size || read(fd, reply, sizeof(reply)) <= 0)
			_exit(1);
	}
	_exit(0);
}

static long requests_answer(int fd, int file)
{
	static const char head[] = "HTTP/1.0 200 OK\r\nContent-Length: 512\r\n\r\n";
	char request[256], reply[1024];
	long answered = 0;
	ssize_t got;

	COSY_START;
	while ((got = read(fd, request, sizeof(request))) > 0) {
		long page = 0;

		if (got < 5 || memcmp(request, "GET /", 5))
			break;
		for (ssize_t i = 5; i < got && request[i] >= '0' && request[i] <= '9'; i++)
			page = page * 10 + request[i] - '0';
		memcpy(reply, head, sizeof(head) - 1);
		if (pread(file, reply + sizeof(head) - 1, 512, page * 512) != 512)
			break;
		if (write(fd, reply, sizeof(head) - 1 + 512) < 0)
			break;
		answered++;
	}
	COSY_END;
	return answered;
}

int main(int argc, char **argv)
{
	int file = process_open(argv[1], "log", O_RDONLY), pair[2], status;
	long count = argc > 2 ? atol(argv[2]) : 0, answered;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	child = fork();
	if (!child) {
		close(pair[0]);
		requests_make(pair[1], count);
	}
	close(pair[1]);
	answered = requests_answer(pair[0], file);
	waitpid(child, &status, 0);
	printf("%ld %d\n", answered, status);
	return 0;
}
