// SPDX-License-Identifier: MIT
/*
 * stale_test.c [OPENS [USER]] - writes, in one process, version after version of a file, each by a
 * new descriptor, some after truncating it; another process reads without end.  A read that begins
 * when a version has been written must never see an older one, nor an older end.  With USER the
 * reader is that user, who does not own the file, and leases are the daemon's.
 *
 * Zeros are of no version: the first is 1.  On tmpfs the kernel's own read gives them past the
 * end of a file that is made shorter while it looks for the page (docs/use/cosy-run-limits.md).  So
 * they are what an end is: there only while a version is being written.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
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

/* Opens to write over what is there, from nothing, or from half. */
static int open_somehow(const char *path, uint64_t version)
{
	if (version % 7 == 1)
		return RAW(openat, AT_FDCWD, path, O_WRONLY | O_TRUNC);
	if (version % 7 == 2)
		RAW(truncate, path, sizeof(words) / 2);
	return RAW(openat, AT_FDCWD, path, O_WRONLY);
}

static void words_of(uint64_t version)
{
	for (int i = 0; i < WORDS; i++)
		words[i] = version;
}

static void write_versions(const char *path, struct versions *versions, uint64_t last, int pause)
{
	for (uint64_t version = 2; version <= last; version++) {
		int fd;

		versions->begun = version;
		fd = open_somehow(path, version);
		words_of(version);
		if (RAW(write, fd, words, sizeof(words)) != sizeof(words))
			_exit(1);
		RAW(close, fd);
		versions->written = version;
		/* Wait long enough for the reader to earn a window again. */
		for (volatile int i = 0; i < pause; i++)
			;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long opens = argc > 1 ? atol(argv[1]) : 2000;
	uid_t user = argc > 2 ? atoi(argv[2]) : 0;
	uint64_t last = 1 + opens;
	unsigned long reads = 0, stale = 0, ends = 0, zeros = 0;
	struct versions *versions;
	const char *dir = getenv("TMPDIR");
	char path[200];
	int fd, status = -1;
	pid_t writer;

	snprintf(path, sizeof(path), "%s/cosy-run-stale.%d", dir ? dir : "/tmp", getpid());
	versions = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	words_of(1);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	if (versions == MAP_FAILED || write(fd, words, sizeof(words)) != sizeof(words))
		return 1;
	close(fd);
	versions->begun = versions->written = 1;
	writer = fork();
	if (!writer)
		write_versions(path, versions, last, user ? 400000 : 20000);
	if (user && setresuid(user, user, user))
		return 1;
	while (!waitpid(writer, &status, WNOHANG)) {
		/* A descriptor that lost many leases gives up; a new one does not know. */
		fd = open(path, O_RDONLY);
		for (int i = 0; i < WORDS; i++) {
			uint64_t before = versions->written, seen = 0;
			ssize_t len = read(fd, &seen, sizeof(seen));
			bool writing = versions->begun != before;

			if (!len) {
				ends += !writing;
				break;
			}
			if (len != sizeof(seen))
				return 1;
			reads++;
			if (!seen && writing)
				zeros++;
			else
				stale += seen < before;
		}
		close(fd);
	}
	if (!user)
		unlink(path);
	printf("%lu reads, %lu stale, %lu stale ends, %lu zeros while writing, %lu versions\n",
	       reads, stale, ends, zeros, (unsigned long)versions->written);
	return stale || ends || status || versions->written != last;
}
