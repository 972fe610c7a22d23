/* SPDX-License-Identifier: MIT */
/*
 * relay copy|move MESSAGES KB: a source sends messages to a relay, which passes each on to one of
 * two sinks, as the header of the message says.
 *
 * The relay looks at 64 bytes of each message.  With `copy` it has to read and write all of it;
 * with `move` the pages go from one pipe to the other (UVM, USENIX '99, section 4.2), and cosy_look
 * copies the header without making a page present.  By cosycc either loop is a compound.  Both
 * print the same.
 */
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <cosy/move.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SINKS 2

struct header {
	uint64_t number, to;
	char rest[48];
};

static size_t size;
static long messages;
static char *memory; /* of one message; each process has its own */

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Receives a message; false: there are no more. */
static bool message_receive(int from)
{
	for (size_t done = 0; done < size;) {
		ssize_t now = cosy_transfer(from, memory + done, size - done, 0);

		if (now < 0)
			die("cosy_transfer");
		if (!now)
			return false;
		done += (size_t)now;
	}
	return true;
}

static void source(int to)
{
	struct header *header = (struct header *)memory;

	for (long i = 0; i < messages; i++) {
		memset(memory, (int)(i % 100 + 1), size);
		*header = (struct header){.number = (uint64_t)i, .to = (uint64_t)i * i / 3};
		for (size_t done = 0; done < size;) {
			ssize_t now = cosy_loan(to, memory + done, size - done, 0);

			if (now < 0)
				die("cosy_loan");
			done += (size_t)now;
		}
	}
}

/* --- The relay: returns how many messages it has passed on ---------------------------------------- */

static long relay_copy(int from, const int *to)
{
	char *bytes = memory;
	size_t count = size;
	long passed = 0;

	COSY_START;
	for (;;) {
		ssize_t now = 1;
		size_t done = 0;
		int sink;

		while (done < count && (now = read(from, bytes + done, count - done)) > 0)
			done += (size_t)now;
		if (done < count)
			break;
		sink = to[((const struct header *)bytes)->to % SINKS];
		done = 0;
		while (done < count && (now = write(sink, bytes + done, count - done)) > 0)
			done += (size_t)now;
		if (done < count)
			break;
		passed++;
	}
	COSY_END;
	return passed;
}

static long relay_move(int from, const int *to)
{
	char *bytes = memory;
	size_t count = size;
	long passed = 0;

	COSY_START;
	for (;;) {
		struct header header;
		ssize_t now = 1;
		size_t done = 0;
		int sink;

		while (done < count &&
		       (now = cosy_transfer(from, bytes + done, count - done, 0)) > 0)
			done += (size_t)now;
		if (done < count)
			break;
		cosy_look(&header, bytes, sizeof(header));
		sink = to[header.to % SINKS];
		done = 0;
		while (done < count && (now = cosy_loan(sink, bytes + done, count - done, 0)) > 0)
			done += (size_t)now;
		if (done < count)
			break;
		passed++;
	}
	COSY_END;
	return passed;
}

/* --- The sinks ----------------------------------------------------------------------------------- */

struct result {
	uint64_t count, numbers, bytes;
};

static void sink(int from, int to)
{
	struct result result = {0};

	while (message_receive(from)) {
		result.count++;
		result.numbers += ((const struct header *)memory)->number;
		for (size_t at = sizeof(struct header); at < size; at++)
			result.bytes += (unsigned char)memory[at];
	}
	if (write(to, &result, sizeof(result)) != sizeof(result))
		die("write");
}

/* --- The processes -------------------------------------------------------------------------------- */

static void pipe_new(int *ends)
{
	if (pipe(ends))
		die("pipe");
	/* Room for a message or more, if that is allowed. */
	fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
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
	int in[2], outs[SINKS][2], results[2], to[SINKS], status, failed = 0;
	bool moves = argc > 1 && !strcmp(argv[1], "move");
	struct result result, sum = {0};
	struct timespec began, ended;
	long passed;

	if (argc != 4 || (!moves && strcmp(argv[1], "copy"))) {
		fprintf(stderr, "usage: relay copy|move MESSAGES KB\n");
		return 2;
	}
	messages = atol(argv[2]);
	size = (size_t)atol(argv[3]) << 10;
	memory = cosy_move_alloc(size, 0);
	if (!memory)
		die("a message");
	clock_gettime(CLOCK_MONOTONIC, &began);
	pipe_new(in);
	pipe_new(results);
	if (!start()) {
		close(in[0]);
		source(in[1]);
		_exit(0);
	}
	close(in[1]);
	for (int i = 0; i < SINKS; i++) {
		pipe_new(outs[i]);
		to[i] = outs[i][1];
		if (!start()) {
			for (int k = 0; k <= i; k++)
				close(to[k]);
			sink(outs[i][0], results[1]);
			_exit(0);
		}
		close(outs[i][0]);
	}
	passed = moves ? relay_move(in[0], to) : relay_copy(in[0], to);
	for (int i = 0; i < SINKS; i++)
		close(to[i]);
	for (int i = 0; i < SINKS; i++) {
		if (read(results[0], &result, sizeof(result)) != sizeof(result))
			die("a sink");
		sum.count += result.count;
		sum.numbers += result.numbers * (result.count + 1);
		sum.bytes += result.bytes;
	}
	clock_gettime(CLOCK_MONOTONIC, &ended);
	for (int i = 0; i <= SINKS; i++) {
		wait(&status);
		failed |= status;
	}
	printf("%ld messages of %zu KB, %llu came, numbers %llu, sum %llu", passed, size >> 10,
	       (unsigned long long)sum.count, (unsigned long long)sum.numbers,
	       (unsigned long long)sum.bytes);
	printf(" ns %lld\n",
	       (ended.tv_sec - began.tv_sec) * 1000000000LL + ended.tv_nsec - began.tv_nsec);
	return failed || passed != messages || sum.count != (uint64_t)messages;
}
