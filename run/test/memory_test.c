// SPDX-License-Identifier: MIT
/*
 * memory_test.c KIB FILES - checks that windows take no more memory than KIB, however many files
 * are open, and give it back when they are closed; files that are read no more make room for
 * others.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"
#include "proc_kib.h"
#include "raw.h"

#define LEN   70000
#define BLOCK 512
/*
 * KiB of the process itself: a page for each window, the structures, stacks, four unused windows.
 */
#define MORE_KIB   4096
#define FIRST_READ 3

static char path[200], block[BLOCK];

/* Returns the private memory that is there, counted page by page. */
static long anonymous_kib(void)
{
	return proc_kib("/proc/self/smaps_rollup", "Anonymous");
}

static bool leased(int fd)
{
	return RAW(fcntl, fd, F_GETLEASE) == F_RDLCK;
}

/* Reads a file again and again by blocks. */
static void read_all(int fd, int times)
{
	for (int i = 0; i < times; i++) {
		CHECK(lseek(fd, 0, SEEK_SET) == 0);
		for (int at = 0; at + BLOCK <= LEN; at += BLOCK)
			CHECK(read(fd, block, BLOCK) == BLOCK && block[0] == (char)(at / BLOCK));
	}
}

int main(int argc, char **argv)
{
	long limit = argc > 2 ? atol(argv[1]) : 32768, begin;
	int count = argc > 2 ? atoi(argv[2]) : 900, fds[1000], leases = 0;
	struct rlimit files = {1024, 1024};
	const char *dir = getenv("TMPDIR");

	CHECK(count < 1000 && !setrlimit(RLIMIT_NOFILE, &files));
	snprintf(path, sizeof(path), "%s/cosy-run-memory.%d", dir ? dir : "/tmp", getpid());
	fds[0] = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (int at = 0; at < LEN; at += BLOCK) {
		memset(block, at / BLOCK, BLOCK);
		CHECK(write(fds[0], block, BLOCK) == BLOCK);
	}
	close(fds[0]);
	begin = anonymous_kib();
	for (int i = 0; i < count; i++) {
		fds[i] = open(path, O_RDONLY);
		CHECK(fds[i] >= 0);
		read_all(fds[i], FIRST_READ);
	}
	for (int i = 0; i < count; i++)
		leases += leased(fds[i]);
	printf("%d leases, %ld KiB with all files open\n", leases, anonymous_kib() - begin);
	CHECK(anonymous_kib() - begin <= limit + MORE_KIB);
	CHECK(leases > 0 && leases <= limit / 64);
	/* More files have been open than there is room for, and the last one has a window. */
	CHECK(leased(fds[count - 1]));
	CHECK(!leased(fds[0]));
	read_all(fds[0], 1);
	for (int i = 0; i < count; i++)
		close(fds[i]);
	printf("%ld KiB with none\n", anonymous_kib() - begin);
	CHECK(anonymous_kib() - begin <= MORE_KIB);
	unlink(path);
	return 0;
}
