/* SPDX-License-Identifier: MIT */
/*
 * Reads pages that have to be brought in first: guard READAHEAD, and a file that comes from the
 * disk through a region all the same.
 */
#include "guards.h"
#include <linux/magic.h>
#include <sys/statfs.h>

#define SIZE (4 << 20)

static uint64_t word(long at)
{
	return (uint64_t)at * 0x9e3779b97f4a7c15;
}

/* Drops the page cache, which only root may. */
static void forget(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	if (fd < 0)
		SKIP("the page cache cannot be dropped by this user");
	sync();
	MUST(write(fd, "1", 1) == 1);
	close(fd);
}

int main(void)
{
	static uint64_t block[512];
	struct cosy_stats before;
	long wrong = 0, got = 0;
	struct statfs fs;
	const char *directory = getenv("TMPDIR");
	int fd;

	MUST(!chdir(directory ? directory : "/tmp"));
	fd = open("ahead", O_RDWR | O_CREAT | O_TRUNC, 0600);
	MUST(fd >= 0 && !fstatfs(fd, &fs));
	if (fs.f_type == TMPFS_MAGIC)
		SKIP("tmpfs has no disk to read ahead from");
	for (long at = 0; at < SIZE; at += 4096) {
		for (int i = 0; i < 512; i++)
			block[i] = word(at + 8 * i);
		MUST(write(fd, block, 4096) == 4096);
	}
	MUST(!lseek(fd, 0, SEEK_SET));
	forget();
	before = counts();
	COSY_START;
	for (long at = 0; at < SIZE; at += 4096) {
		got += read(fd, block, 4096);
		wrong += block[0] != word(at) || block[511] != word(at + 4088);
	}
	COSY_END;
	CHECK(got == SIZE && !wrong, "%ld bytes, %ld pages wrong", got, wrong);
	CHECK_GUARD(before, READAHEAD);
	close(fd);
	unlink("ahead");
	return check_end();
}
