/* SPDX-License-Identifier: MIT */
/*
 * Stores into a shared mapping of a file after a region has read the file, and before it writes
 * what it read: the bytes are those of the read.  Neither the store, nor a call that fills memory of
 * the mapping, is a call on the file.  Also: copies files until tmpfs, which has room for huge
 * pages beyond the end of files, has no more.
 */
#include "guards.h"
#include <cosy/cosy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>

enum { SIZE = 8192, BLOCK = 4096, ROUNDS = 3, LARGE = 65536, PART = 16384 };

static char text[LARGE];

/* Returns a descriptor of a new file of `size` bytes, each of them `byte`. */
static int file_make(const char *name, char byte, size_t size)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	memset(text, byte, size);
	MUST(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	return fd;
}

/* What was copied is what `in` had when it was read. */
static void check_copied(int out)
{
	char got[8];

	MUST(pread(out, got, sizeof(got), 0) == sizeof(got));
	CHECK(!memcmp(got, "aaaaaaaa", sizeof(got)), "%.8s", got);
}

/* The compound stores by itself. */
static void stores(int in, int out, char *map)
{
	for (int k = 0; k < ROUNDS; k++) {
		ssize_t done = 0;

		COSY_START;
		for (int i = 0; i < 2; i++) {
			char bytes[BLOCK];

			done += pread(in, bytes, BLOCK, 0);
			map[0] = 'X';
			map[1] = 'Y';
			done += pwrite(out, bytes, BLOCK, 0);
			map[0] = map[1] = 'a';
		}
		COSY_END;
		CHECK(done == 4 * BLOCK, "%zd bytes", done);
		check_copied(out);
	}
}

/* Other calls, and functions on memory, fill the mapping. */
static void fills(int in, int out, int other, char *map)
{
	for (int k = 0; k < ROUNDS; k++) {
		ssize_t done = 0;

		COSY_START;
		for (int i = 0; i < 2; i++) {
			char bytes[BLOCK];

			done += pread(in, bytes, BLOCK, 0);
			done += pread(other, map + 2, 4, 0);
			done += pwrite(out, bytes, BLOCK, 0);
			done += pread(in, bytes, BLOCK, 100);
			memcpy(map + 100, "MMMM", 4);
			done += pwrite(out, bytes, 4, 4);
			memset(map, 'a', 200);
		}
		COSY_END;
		CHECK(done == 2 * (3 * BLOCK + 8), "%zd bytes", done);
		check_copied(out);
	}
}

/* Copies parts of one file to another until there is no room; returns how many bytes had some. */
static long copied_until_full(bool in_region)
{
	int in = file_make("in", 'i', LARGE), out = file_make("out", 'o', 1), error = 0;
	ssize_t done = 1;
	long total = 0;

	if (in_region) {
		COSY_START;
		for (;;) {
			char bytes[PART];
			ssize_t got = pread(in, bytes, PART, 0);

			done = write(out, bytes, (size_t)got);
			if (done < 0) {
				error = errno;
				break;
			}
			total += done;
		}
		COSY_END;
	} else {
		while ((done = write(out, text, PART)) >= 0)
			total += done;
		error = errno;
	}
	CHECK(error == ENOSPC, "%s", strerror(error));
	MUST(!close(in) && !close(out) && !unlink("in") && !unlink("out"));
	return total;
}

/* tmpfs makes room by splitting huge pages, which it cannot do while somebody holds them. */
static void full(void)
{
	long natively, in_region;

	if (geteuid() || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("not run as %d: a file system that is full\n", geteuid());
		return;
	}
	MUST(!mkdir("full", 0700));
	if (mount("none", "full", "tmpfs", 0, "size=8m,huge=always")) {
		printf("not run: a file system that is full: %s\n", strerror(errno));
	} else {
		MUST(!chdir("full"));
		natively = copied_until_full(false);
		in_region = copied_until_full(true);
		CHECK(natively == in_region, "%ld bytes natively, %ld in a region", natively,
		      in_region);
		MUST(!chdir("..") && !umount("full"));
	}
	MUST(!rmdir("full"));
}

int main(void)
{
	struct cosy_stats then;
	int in, out, other;
	char *map;

	directory_enter();
	in = file_make("file", 'a', SIZE);
	other = file_make("other", 'G', SIZE);
	out = file_make("copy", 'c', SIZE);
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, in, 0);
	MUST(map != MAP_FAILED);
	then = counts();
	stores(in, out, map);
	CHECK_GUARD(then, VIEW);
	fills(in, out, other, map);
	/* Who can only read it stores nothing. */
	MUST(!munmap(map, SIZE));
	map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, in, 0);
	MUST(map != MAP_FAILED);
	then = counts();
	stores(in, out, map);
	CHECK_FAST(then, 2 * ROUNDS);
	MUST(!munmap(map, SIZE) && !close(in) && !close(out) && !close(other));
	MUST(!unlink("file") && !unlink("copy") && !unlink("other"));
	full();
	directory_leave();
	return check_end();
}
