/* SPDX-License-Identifier: MIT */
/*
 * move.h - shared by what measures ways to move megabytes between processes.
 *
 * Time is instructions under `vm.py run --icount`.  A row is the least of many, per page of 4 KB.
 * Outside of what is timed the bytes of one message, at least, of each row and size are compared.
 */
#ifndef BENCH_MOVE_H
#define BENCH_MOVE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cosy/move.h>

#define PAGE	  4096UL
#define MAX_BYTES (4UL << 20)

/* Makes a call that must not fail; yields its value. */
#define TRY(call)                                                                                  \
	({                                                                                         \
		long try_it = (long)(call);                                                        \
		if (try_it < 0)                                                                    \
			fail(#call);                                                               \
		try_it;                                                                            \
	})

_Noreturn static inline void fail(const char *what)
{
	printf("FAIL %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

static inline long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Returns the word that byte `at` of a message begins. */
static inline uint64_t word_of(uint64_t message, size_t at)
{
	return (message << 32 | at) * 0x9e3779b97f4a7c15u | 1;
}

static inline void fill(char *memory, size_t bytes, uint64_t message)
{
	for (size_t at = 0; at < bytes; at += 8)
		*(uint64_t *)(memory + at) = word_of(message, at);
}

static inline void compare(const char *what, const char *memory, size_t bytes, uint64_t message)
{
	for (size_t at = 0; at < bytes; at += 8) {
		if (*(const uint64_t *)(memory + at) == word_of(message, at))
			continue;
		printf("FAIL %s, %zu KB: byte %zu is another\n", what, bytes >> 10, at);
		fflush(stdout);
		_exit(1);
	}
}

static inline void touch(char *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		++*(volatile uint64_t *)(memory + at);
}

static inline uint64_t look(const char *memory, size_t bytes)
{
	uint64_t sum = 0;

	for (size_t at = 0; at < bytes; at += PAGE)
		sum += *(const volatile uint64_t *)(memory + at);
	return sum;
}

/* Reads or writes all of it. */
void read_all(int fd, char *memory, size_t bytes);
void write_all(int fd, const char *memory, size_t bytes);
void loan_all(int fd, const char *memory, size_t bytes);
void transfer_all(int fd, char *memory, size_t bytes, int flags);

void fd_send(int sock, int fd);
int fd_receive(int sock);

/* Ends of streams with room for a message: [0] is read, [1] written. */
void pipe_new(int *ends);
void unix_new(int *ends);
void tcp_new(int *ends);

/* Has room for less than NARROW bytes in the peer: further ones wait until it reads. */
#define NARROW (256 << 10)
void tcp_narrow_new(int *ends);

/* Returns ordinary memory that is there, without huge pages. */
char *memory_new(void);

/* Measures and prints: the ways in one process, their parts, and the paper's figures. */
void ways_measure(void);
void parts_measure(void);
void figures_measure(void);

#endif /* BENCH_MOVE_H */
