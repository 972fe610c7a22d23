/* SPDX-License-Identifier: MIT */
/*
 * main.c - single calls in a loop: what each costs, by a clock that counts instructions.
 *
 *	calls DIRECTORY
 *
 * Built twice: with marks, each loop is a region; without, the same loop makes plain calls.  Prints for
 * each row its name, instructions per iteration, and the sum of the results, which must be the same.
 * Directory `d` has 256 files of 3,000 bytes.
 */
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES 256

static char names[FILES][8], paths[FILES][16], buffer[65536];
static int dir, file, end, out, appended, ends[2];
static struct stat st;
static struct statx sx;

/* Returns the row's sum of results over `n` iterations. */
#define ROW(name, ...)                                                                             \
	static __attribute__((noinline)) long row_##name(long n)                                   \
	{                                                                                          \
		long r = 0;                                                                        \
                                                                                                   \
		COSY_START;                                                                        \
		for (long i = 0; i < n; i++) {                                                     \
			__VA_ARGS__;                                                               \
		}                                                                                  \
		COSY_END;                                                                          \
		return r;                                                                          \
	}
#include "rows.def"
#undef ROW

static const struct {
	const char *name;
	long (*make)(long n);
} rows[] = {
#define ROW(name, ...) {#name, row_##name},
#include "rows.def"
#undef ROW
};

static void check(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		exit(1);
	}
}

static int file_make(int at, const char *name, size_t size)
{
	int fd = openat(at, name, O_RDWR | O_CREAT, 0644);

	check(fd >= 0 && write(fd, buffer, size) == (ssize_t)size, name);
	return fd;
}

static void files_make(const char *directory)
{
	check(!mkdir(directory, 0755) && !chdir(directory), directory);
	check(!mkdir("d", 0755) && !mkdir("d/e", 0755) && !mkdir("mnt", 0755), "mkdir");
	check(!mount("none", "mnt", "tmpfs", 0, NULL), "mount");
	close(file_make(AT_FDCWD, "mnt/x", 1));
	dir = open("d/e", O_RDONLY | O_DIRECTORY);
	check(dir >= 0, "d/e");
	for (int i = 0; i < FILES; i++) {
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		snprintf(paths[i], sizeof(paths[i]), "d/e/f%d", i);
		close(file_make(dir, names[i], 3000));
	}
	check(!symlinkat("f1", dir, "link"), "link");
	file = file_make(AT_FDCWD, "file", sizeof(buffer));
	out = file_make(AT_FDCWD, "out", sizeof(buffer));
	end = file_make(AT_FDCWD, "end", 1);
	appended = file_make(AT_FDCWD, "appended", 1);
	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static long timed(long (*make)(long n), long n, long *sum)
{
	long start = now();

	*sum = make(n);
	return now() - start;
}

int main(int argc, char **argv)
{
	long sum, few, many;

	if (argc != 2)
		return 2;
	files_make(argv[1]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		/* By then the region is loaded, and sites whose guards fail are known. */
		for (int warm = 0; warm < 4; warm++)
			rows[i].make(600);
		few = timed(rows[i].make, 512, &sum);
		many = timed(rows[i].make, 512 + 2048, &sum);
		printf("row %s %ld %ld\n", rows[i].name, (many - few) / 2048, sum);
		fflush(stdout);
		check(!ftruncate(appended, 1) && lseek(appended, 1, SEEK_SET) == 1, "ftruncate");
	}
	return 0;
}
