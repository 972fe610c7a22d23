/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - the shared part of measured rows.  A row is measured in rounds: in each, the
 * ordinary calls (the C library's own), the calls that the program is given, and what
 * else the row compares with, in turn, on one processor.
 */
#ifndef COSY_RUN_BENCH_ROUNDS_H
#define COSY_RUN_BENCH_ROUNDS_H

#include <signal.h>
#include <stdio.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* A way to make the calls that are measured. */
struct calls {
	int (*open)(const char *path, int flags, ...);
	int (*close)(int fd);
	ssize_t (*read)(int fd, void *buf, size_t len);
	ssize_t (*write)(int fd, const void *buf, size_t len);
	ssize_t (*pread)(int fd, void *buf, size_t len, off_t offset);
	ssize_t (*readv)(int fd, const struct iovec *parts, int count);
	off_t (*lseek)(int fd, off_t offset, int whence);
	int (*dup)(int fd);
	int (*fcntl)(int fd, int command, ...);
	int (*sigprocmask)(int how, const sigset_t *set, sigset_t *old);
};

struct row {
	const char *workload;
	const char *name;
	size_t len;	    /* of a read, in bytes */
	size_t file_len;    /* of the file, in bytes */
	unsigned int calls; /* in a round */
	/* A round: ns per call.  `fd` is open since before the first round. */
	double (*round)(const struct calls *calls, const struct row *row, int fd);
	/* Besides, measured on a stream of the file; may be NULL. */
	const char *other_name;
	double (*other)(const struct row *row, FILE *stream);
};

extern const struct row read_rows[], overhead_rows[],
	rewrite_rows[]; /* end with a row without name */

extern char *buf; /* 1 MiB */
extern char path[200];
extern size_t file_len; /* of the file at `path`, now */

/* CPU time of this thread, and, for what is too short for a system call, the clock; ns. */
static inline double clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

#define cpu_now()  clock_ns(CLOCK_THREAD_CPUTIME_ID)
#define wall_now() clock_ns(CLOCK_MONOTONIC)

/* A read that must not be short. */
void must_read(const struct calls *calls, int fd, size_t len);

#endif /* COSY_RUN_BENCH_ROUNDS_H */
