/* SPDX-License-Identifier: MIT */
/* specialised.h - a file whose bytes tell their places, and descriptors of it that have a window. */
#ifndef COSY_RUN_TEST_SPECIALISED_H
#define COSY_RUN_TEST_SPECIALISED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "raw.h"

#define SIZE  1000
#define READS 100

static char path[200];

/* Makes the file, of a name of the test's own. */
static void path_make(const char *name)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/cosy-run-%s.%d", dir ? dir : "/tmp", name, getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (int i = 0; i < SIZE; i++)
		CHECK(write(fd, &(char){i}, 1) == 1);
	close(fd);
}

static void read_on(int fd, int from, int to)
{
	char byte;

	for (int i = from; i < to; i++)
		CHECK(read(fd, &byte, 1) == 1 && byte == (char)i);
}

/*
 * Opens the file, and reads up to READS, again and again until the kernel is not asked any more: at
 * once with COSY_RUN_EAGER.  Otherwise that has to be earned; and the first that earn it come too
 * early, until the thread that returns leases has begun.
 */
static inline int specialised(void)
{
	int fd = -1;

	for (int i = 0; i < 1000000; i++) {
		if (i % 100 == 0)
			fd = open(path, O_RDONLY);
		lseek(fd, 0, SEEK_SET);
		read_on(fd, 0, READS);
		if (RAW(lseek, fd, 0, SEEK_CUR) < READS)
			return fd;
		if (i % 100 == 99)
			close(fd);
	}
	CHECK(!"specialised");
	return -1;
}

/* Checks that the number, which is free, gets a pipe's bytes when it is given to one. */
__attribute__((unused)) static void means_a_pipe(int fd)
{
	char byte = 0;
	int ends[2];

	CHECK(!pipe(ends) && ends[0] == fd);
	CHECK(write(ends[1], "P", 1) == 1);
	CHECK(read(fd, &byte, 1) == 1 && byte == 'P');
	RAW(close, ends[0]);
	RAW(close, ends[1]);
}

#endif /* COSY_RUN_TEST_SPECIALISED_H */
