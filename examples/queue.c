/* SPDX-License-Identifier: MIT */
/*
 * queue copy|donate SENDERS MESSAGES KB: processes that need not trust each other send to one.
 *
 * The receiver makes a port (UVM, USENIX '99, section 4.3): a window of its own memory, in which
 * each sender has a part.  A sender passes a message for its part, and waits by itself until the
 * one before has been taken; it can neither look at the window nor change what was taken.  With
 * `copy` it keeps the bytes, with `donate` its pages go.  Both print the same.
 */
#include <cosy/move.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct header {
	uint64_t sender, number;
};

static size_t size;
static long senders, messages;

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

static char *memory_new(size_t count)
{
	char *memory = cosy_move_alloc(count, 0);

	if (!memory)
		die("cosy_move_alloc");
	return memory;
}

static void send_all(int port, long sender, enum cosy_how how)
{
	char *message = memory_new(size);

	for (long i = 0; i < messages; i++) {
		memset(message, (int)((sender + i) % 100 + 1), size);
		*(struct header *)message = (struct header){
			.sender = (uint64_t)sender,
			.number = (uint64_t)i,
		};
		if (cosy_pass(port, (size_t)sender * size, message, size, how) != (ssize_t)size)
			die("cosy_pass");
	}
}

/* Takes messages until all senders are done.  Returns how many were not what they should be. */
static long take_all(int port)
{
	size_t window_size = (size_t)senders * size, at;
	uint64_t *next = calloc((size_t)senders, sizeof(*next));
	char *window = memory_new(window_size);
	unsigned long long sum = 0;
	long count = 0, wrong = 0;
	ssize_t came;

	if (!next)
		die("calloc");
	while ((came = cosy_take(port, window, window_size, &at, COSY_POPULATE)) > 0) {
		const struct header *header = (const struct header *)(window + at);
		size_t sender = at / size;

		/* Each sender keeps to its part, and its messages come in their order. */
		wrong += (size_t)came != size || header->sender != sender ||
			 header->number != next[sender]++;
		for (size_t i = sizeof(*header); i < size; i++)
			sum += (unsigned char)window[at + i];
		count++;
	}
	if (came < 0)
		die("cosy_take");
	printf("%ld messages of %zu KB from %ld, %ld wrong, sum %llu", count, size >> 10, senders,
	       wrong, sum);
	free(next);
	return wrong + (count != senders * messages);
}

int main(int argc, char **argv)
{
	enum cosy_how how = argc > 1 && !strcmp(argv[1], "donate") ? COSY_DONATE_ZERO : COSY_COPY;
	struct timespec began, ended;
	int ends[2], status;
	long failed = 0;

	if (argc != 5 || (how == COSY_COPY && strcmp(argv[1], "copy"))) {
		fprintf(stderr, "usage: queue copy|donate SENDERS MESSAGES KB\n");
		return 2;
	}
	senders = atol(argv[2]);
	messages = atol(argv[3]);
	size = (size_t)atol(argv[4]) << 10;
	if (cosy_port((size_t)senders * size, ends))
		die("cosy_port");
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (long i = 0; i < senders; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			close(ends[0]);
			send_all(ends[1], i, how);
			_exit(0);
		}
	}
	close(ends[1]);
	failed = take_all(ends[0]);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	while (wait(&status) > 0)
		failed += status != 0;
	printf(" ns %lld\n",
	       (ended.tv_sec - began.tv_sec) * 1000000000LL + ended.tv_nsec - began.tv_nsec);
	return failed ? 1 : 0;
}
