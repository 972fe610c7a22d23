// SPDX-License-Identifier: MIT
/*
 * stale_test.c [OPENS [USER]] - one process writes version after version of a file, each by
 * a new descriptor, some after truncating it; another reads without end.  A read that
 * begins when a version has been written never sees an older one, nor an older end.  With
 * USER the reader is that user, who does not own the file, and leases are the daemon's.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "raw.h"

#define WORDS 4096

static uint64_t words[WORDS];

/* The version that is being written, and the last one that has been. */
struct versions {
	volatile uint64_t begun, written;
};

/* Over what is there, from nothing, or from half. */
static int open_somehow(const char *path, long version)
{
	if (version % 7 == 1)
		return RAW(openat, AT_FDCWD, path, O_WRONLY | O_TRUNC);
	if (version % 7 == 2)
		RAW(truncate, path, sizeof(words) / 2);
	return RAW(openat, AT_FDCWD, path, O_WRONLY);
}

static void write_versions(const char *path, struct versions *versions, long opens, int pause)
{
	for (long version = 1; version <= opens; version++) {
		int fd;

		versions->begun = version;
		fd = open_somehow(path, version);
		for (int i = 0; i < WORDS; i++)
			words[i] = version;
		if (RAW(write, fd, words, sizeof(words)) != sizeof(words))
			_exit(1);
		RAW(close, fd);
		versions->written = version;
		/* Long enough for the reader to earn a window again. */
		for (volatile int i = 0; i < pause; i++)
			;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long opens = argc > 1 ? atol(argv[1]) : 2000;
	uid_t user = argc > 2 ? atoi(argv[2]) : 0;
	unsigned long reads = 0, stale = 0, ends = 0;
	struct versions *versions;
	const char *dir = getenv("TMPDIR");
	char path[200];
	int fd, status = -1;
	pid_t writer;

	snprintf(path, sizeof(path), "%s/cosy-read-stale.%d", dir ? dir : "/tmp", getpid());
	versions = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	if (versions == MAP_FAILED || write(fd, words, sizeof(words)) != sizeof(words))
		return 1;
	close(fd);
	writer = fork();
	if (!writer)
		write_versions(path, versions, opens, user ? 400000 : 20000);
	if (user && setresuid(user, user, user))
		return 1;
	while (!waitpid(writer, &status, WNOHANG)) {
		/* A descriptor that lost many leases gives up; a new one does not know. */
		fd = open(path, O_RDONLY);
		for (int i = 0; i < WORDS; i++) {
			uint64_t before = versions->written, seen = 0;
			ssize_t len = read(fd, &seen, sizeof(seen));

			/* The end is there only while a version is being written. */
			if (!len) {
				ends += versions->begun == before;
				break;
			}
			if (len != sizeof(seen))
				return 1;
			reads++;
			stale += seen < before;
		}
		close(fd);
	}
	if (!user)
		unlink(path);
	printf("%lu reads, %lu stale, %lu stale ends, %lu versions\n", reads, stale, ends,
	       (unsigned long)versions->written);
	return stale || ends || status || versions->written != (uint64_t)opens;
}
