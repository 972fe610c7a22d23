// SPDX-License-Identifier: MIT
/*
 * Sends messages by a one-to-one SCTP socket, which is SOCK_STREAM and keeps them apart: a loan and a
 * lent view have to arrive as the one message that write(2) makes of the same bytes.
 *
 * With CHECK_KINDS=all, which the machine has loaded modules for, SCTP may not be missing.
 */
#include "move.h"
#include "script.h"

enum { SMALL = 16 << 12, LARGE = 80 << 12, VIEW = 32768 };

static void sctp_new(struct pair *p)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address);
	int room = 1 << 20, listener = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	const char *expect = getenv("CHECK_KINDS");

	if (listener < 0 && !(expect && !strcmp(expect, "all")))
		SKIP("SCTP: %s", strerror(errno));
	MUST(listener >= 0 && !bind(listener, (struct sockaddr *)&address, size) &&
	     !listen(listener, 1) && !getsockname(listener, (struct sockaddr *)&address, &size));
	p->to = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	MUST(p->to >= 0 && !connect(p->to, (struct sockaddr *)&address, size));
	p->from = accept(listener, NULL, NULL);
	MUST(p->from >= 0);
	MUST(!setsockopt(p->to, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) &&
	     !setsockopt(p->from, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	close(listener);
}

/* What a sender reported, and what arrived. */
struct arrival {
	ssize_t sent;
	int error, messages;
	size_t bytes;
};

/* Receives to the end, in a child. */
static void receive(struct pair *p, struct arrival *arrival)
{
	static char bytes[65536];
	struct iovec piece = { bytes, sizeof(bytes) };
	ssize_t got;

	close(p->to);
	for (;;) {
		struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

		got = recvmsg(p->from, &message, 0);
		if (got <= 0)
			break;
		arrival->bytes += (size_t)got;
		arrival->messages += !!(message.msg_flags & MSG_EOR);
	}
}

/* Has `send` send `length` bytes at `memory`, and returns what arrives. */
static struct arrival arrival_of(ssize_t (*send)(int fd, char *memory, size_t length), char *memory,
				 size_t length)
{
	struct arrival *arrival = shared_memory(sizeof(*arrival)), got;
	struct pair p;
	int status;
	pid_t pid;

	sctp_new(&p);
	pid = child_start();
	if (!pid) {
		receive(&p, arrival);
		_exit(check_end());
	}
	close(p.from);
	arrival->sent = send(p.to, memory, length);
	arrival->error = arrival->sent < 0 ? errno : 0;
	close(p.to);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	got = *arrival;
	munmap(arrival, sizeof(*arrival));
	return got;
}

static void same(const char *what, struct arrival got, struct arrival want)
{
	CHECK(got.sent == want.sent && got.error == want.error && got.bytes == want.bytes &&
		      got.messages == want.messages,
	      "%s: %zd (%s), %d messages of %zu bytes; by write %zd (%s), %d messages of %zu bytes",
	      what, got.sent, strerror(got.error), got.messages, got.bytes, want.sent,
	      strerror(want.error), want.messages, want.bytes);
}

static ssize_t by_write(int fd, char *memory, size_t length)
{
	return write(fd, memory, length);
}

static ssize_t by_loan(int fd, char *memory, size_t length)
{
	return cosy_loan(fd, memory, length, 0);
}

static int file;

/* Reads the same bytes into the shared buffer as a view, and lends that. */
static ssize_t by_lend(int fd, char *memory, size_t length)
{
	int step;

	script_begin();
	/* The first read of a file system in a RUN is an ordinary one. */
	SYS(pread64, file, memory + SCRIPT_BUFFER / 2, 1, 0);
	OP(view_pread, file, memory, length, 0);
	step = OP(lend, fd, memory, length, 0);
	script_run();
	if (script_result[step] < 0)
		errno = (int)-script_result[step];
	return script_result[step] < 0 ? -1 : script_result[step];
}

int main(void)
{
	char *memory, *bytes = malloc(LARGE);

	script_init();
	directory_enter();
	memory = move_alloc(LARGE / PAGE);
	for (size_t length = SMALL; length <= LARGE; length += LARGE - SMALL) {
		struct arrival want;

		move_fill(memory, length, 1);
		move_fill(bytes, length, 1);
		want = arrival_of(by_write, bytes, length);
		printf("%zu bytes: %d messages\n", length, want.messages);
		same("a loan", arrival_of(by_loan, memory, length), want);
	}
	cosy_move_free(memory, LARGE);
	file = open("file", O_RDWR | O_CREAT, 0600);
	MUST(file >= 0 && write(file, bytes, VIEW) == VIEW);
	same("a lent view", arrival_of(by_lend, script_buffer, VIEW),
	     arrival_of(by_write, bytes, VIEW));
	close(file);
	unlink("file");
	directory_leave();
	free(bytes);
	return check_end();
}
