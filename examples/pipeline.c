/* SPDX-License-Identifier: MIT */
/*
 * pipeline copy|move FRAMES KB: three processes handle frames, as a camera, a filter and a display
 * do.
 *
 * The first fills a frame, the second looks at its header and marks every third, the last adds up
 * the bytes of those that are not marked.  With `copy` a frame goes by write(2) and read(2); with
 * `move` its pages are donated (UVM, USENIX '99, section 5.4): only a descriptor goes by the
 * socket, and the last gives the pages back to the first.  Both print the same.
 */
#include <cosy/move.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct header {
	uint64_t number;
	uint64_t marked;
};

static size_t size;
static long frames;
static char *frame;

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- A frame by copying ----------------------------------------------------------------------- */

static void frame_write(int to)
{
	for (size_t done = 0; done < size;) {
		ssize_t now = write(to, frame + done, size - done);

		if (now < 0)
			die("write");
		done += (size_t)now;
	}
}

static void frame_read(int from)
{
	for (size_t done = 0; done < size;) {
		ssize_t now = read(from, frame + done, size - done);

		if (now <= 0)
			die("read");
		done += (size_t)now;
	}
}

/* --- A frame by moving ------------------------------------------------------------------------ */

/* Sends or receives a byte with a descriptor. */
static int parcel_pass(int sock, int parcel, ssize_t (*pass)(int, struct msghdr *, int))
{
	char byte = 0;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec piece = {&byte, 1};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);

	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), &parcel, sizeof(int));
	if (pass(sock, &message, 0) != 1)
		die("a descriptor");
	memcpy(&parcel, CMSG_DATA(part), sizeof(int));
	return parcel;
}

static ssize_t message_send(int sock, struct msghdr *message, int flags)
{
	return sendmsg(sock, message, flags);
}

static void frame_donate(int to)
{
	int parcel = cosy_export(frame, size, COSY_DONATE_ZERO);

	if (parcel < 0)
		die("cosy_export");
	parcel_pass(to, parcel, message_send);
	close(parcel);
}

static void frame_import(int from)
{
	int parcel = parcel_pass(from, -1, recvmsg);

	if (cosy_import(parcel, frame, size, 0) != (ssize_t)size)
		die("cosy_import");
	close(parcel);
}

/* --- The stages ------------------------------------------------------------------------------- */

static void (*send_frame)(int to) = frame_write;
static void (*receive_frame)(int from) = frame_read;

static void produce(int to, int back, bool returns)
{
	for (long i = 0; i < frames; i++) {
		/* Only the first frames are new: then pages come back. */
		if (returns && i >= 2)
			receive_frame(back);
		memset(frame, (int)(i % 100 + 1), size);
		*(struct header *)frame = (struct header){.number = (uint64_t)i};
		send_frame(to);
	}
}

static void filter(int from, int to)
{
	for (long i = 0; i < frames; i++) {
		struct header *header = (struct header *)frame;

		receive_frame(from);
		header->marked = header->number % 3 == 0;
		send_frame(to);
	}
}

static void consume(int from, int back, bool returns)
{
	unsigned long long sum = 0;
	long kept = 0;

	for (long i = 0; i < frames; i++) {
		const struct header *header = (const struct header *)frame;

		receive_frame(from);
		if (!header->marked) {
			kept++;
			for (size_t at = sizeof(*header); at < size; at++)
				sum += (unsigned char)frame[at];
		}
		if (returns && i + 2 < frames)
			send_frame(back);
	}
	printf("%ld frames of %zu KB, %ld kept, sum %llu", frames, size >> 10, kept, sum);
}

static void stream(int *ends)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die("socketpair");
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	return pid;
}

int main(int argc, char **argv)
{
	bool moves = argc > 1 && !strcmp(argv[1], "move");
	int first[2], second[2], back[2], status, failed = 0;
	struct timespec began, ended;

	if (argc != 4 || (!moves && strcmp(argv[1], "copy"))) {
		fprintf(stderr, "usage: pipeline copy|move FRAMES KB\n");
		return 2;
	}
	frames = atol(argv[2]);
	size = (size_t)atol(argv[3]) << 10;
	frame = cosy_move_alloc(size, 0);
	if (!frame || size < sizeof(struct header))
		die("a frame");
	if (moves) {
		send_frame = frame_donate;
		receive_frame = frame_import;
	}
	stream(first);
	stream(second);
	stream(back);
	clock_gettime(CLOCK_MONOTONIC, &began);
	if (!start()) {
		produce(first[1], back[0], moves);
		_exit(0);
	}
	if (!start()) {
		filter(first[0], second[1]);
		_exit(0);
	}
	consume(second[0], back[1], moves);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	for (int i = 0; i < 2; i++) {
		wait(&status);
		failed |= status;
	}
	printf(" ns %lld\n",
	       (ended.tv_sec - began.tv_sec) * 1000000000LL + ended.tv_nsec - began.tv_nsec);
	return failed ? 1 : 0;
}
