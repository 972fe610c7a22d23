/* SPDX-License-Identifier: MIT */
/*
 * serve.h - sends small files to a socket, as a web server does: files of `size` bytes go to a
 * connected stream socket (socket=unix, or tcp over the loopback device).  The receiver
 * reads while the clock stands, so only the sender's side counts.  An operation is one file.
 */
#ifndef SERVE_H
#define SERVE_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "bench.h"
#include "compare.h"
#include "content.h"

#define MAX_SIZE (64 << 10)  /* bytes in a file */
#define BURST	 (512 << 10) /* bytes that the socket holds before the receiver reads */
#define SOCKET	 (8 << 20)   /* bytes that it may hold */
#define FILES	 16

/* Sends `count` files.  Returns the bytes sent. */
static long serve_files(int to, long count, long len);
/* Called before the first, for what stays from file to file. */
static void serve_begin(void);

static int sender, receiver;
static long size;
static char wanted[FILES * MAX_SIZE]; /* all the files */

/* Writes "file-00" for 0, without stdio, so that it can be inside a region. */
static inline void serve_name(char name[8], long number)
{
	memcpy(name, "file-00", 8);
	name[5] += number / 10 % 10;
	name[6] += number % 10;
}

static void connect_tcp(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int buffer = SOCKET, on = 1, listener = BENCH_TRY(socket(AF_INET, SOCK_STREAM, 0));

	/* Set it before connecting: the window's scale follows from it. */
	BENCH_TRY(setsockopt(listener, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)));
	BENCH_TRY(bind(listener, (struct sockaddr *)&at, len));
	BENCH_TRY(getsockname(listener, (struct sockaddr *)&at, &len));
	BENCH_TRY(listen(listener, 1));
	sender = BENCH_TRY(socket(AF_INET, SOCK_STREAM, 0));
	BENCH_TRY(connect(sender, (struct sockaddr *)&at, len));
	receiver = BENCH_TRY(accept(listener, NULL, NULL));
	BENCH_TRY(setsockopt(sender, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
	close(listener);
}

void bench_prepare(void)
{
	struct timeval timeout = {.tv_sec = 10};
	int pair[2], buffer = SOCKET;
	char name[32];

	size = bench_number("size", 4096);
	snprintf(name, sizeof(name), "serve-%ld", size);
	if (mkdir(name, 0700) < 0 && errno != EEXIST)
		bench_fail(name);
	BENCH_TRY(chdir(name));
	for (int i = 0; i < FILES; i++) {
		serve_name(name, i);
		bench_file(name, size);
		content_bytes(wanted + i * size, name, 0, size);
	}
	if (!strcmp(bench_text("socket", "unix"), "tcp")) {
		connect_tcp();
	} else {
		BENCH_TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
		sender = pair[0];
		receiver = pair[1];
	}
	BENCH_TRY(setsockopt(sender, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer)));
	/* Do not wait for a sender that claims more than it sent. */
	BENCH_TRY(setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)));
	serve_begin();
}

/* Takes what was sent, whole files from the first on, and compares it. */
static void receive(long bytes)
{
	static char buf[BURST + MAX_SIZE];
	char name[8];
	long at = 0;

	if (bytes > (long)sizeof(buf))
		bytes = sizeof(buf);
	while (at < bytes) {
		ssize_t got = read(receiver, buf + at, bytes - at);

		if (got <= 0)
			bench_fail("receiving");
		at += got;
	}
	for (long file = 0; file < FILES && file * size < bytes; file++) {
		serve_name(name, file);
		compare_bytes(name, 0, buf + file * size, wanted + file * size,
			      at - file * size < size ? at - file * size : size);
	}
}

long bench_work(long n)
{
	const long burst = BURST / size < FILES ? BURST / size : FILES;
	long sum = 0;

	while (n > 0) {
		long sent = serve_files(sender, n < burst ? n : burst, size);

		bench_pause();
		receive(sent);
		bench_resume();
		sum += sent;
		n -= burst;
	}
	return sum;
}

/* Compares short bursts, as every burst was, and checks that no more was sent than was said. */
void bench_check(long n, long answer)
{
	char byte;

	compare_number("how much was sent", 0, answer, n * size);
	for (long files = 1; files <= FILES; files += 3)
		compare_number("how much was sent", files, bench_again(files), files * size);
	compare_number("what was left", 0, recv(receiver, &byte, 1, MSG_DONTWAIT), -1);
}

#endif /* SERVE_H */
