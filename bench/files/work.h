/* SPDX-License-Identifier: MIT */
/*
 * work.h - what bench/files measures: each piece of work once with libc, once with <cosy/files.h>.
 *
 * files-libc and files-cosy are the same source: `files-libc WORK DIRECTORY COUNT TURNS` does the
 * work so many times and prints a checksum of what it saw, and the nanoseconds of the last turn.
 */
#ifndef BENCH_FILES_WORK_H
#define BENCH_FILES_WORK_H

#include <stdint.h>

/* Each returns a checksum, and works on the directory that the process is in. */
uint64_t work_scan(void);
uint64_t work_walk(void);
uint64_t work_stat(const char *const *names, int count);
uint64_t work_read(const char *const *names, int count);

/* Adds the bytes of a name or a file to a checksum that does not depend on their order. */
static inline uint64_t sum_bytes(const void *bytes, uint64_t count)
{
	const unsigned char *at = bytes;
	uint64_t sum = 0xcbf29ce484222325;

	/* A byte in each 64 says whether it is the right one; all of them would be what is measured. */
	for (uint64_t i = 0; i < count; i += 64)
		sum = (sum ^ at[i]) * 0x100000001b3;
	return sum ^ count;
}

static inline uint64_t sum_file(const char *name, uint64_t size, uint64_t mode)
{
	return sum_bytes(name, 1) + size * 31 + mode;
}

#endif /* BENCH_FILES_WORK_H */
