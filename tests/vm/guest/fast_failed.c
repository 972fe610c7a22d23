/* SPDX-License-Identifier: MIT */
/*
 * Has a file system fail before a region: what the region reads and writes there fails as natively,
 * also where reads still succeed.  As root, on a disk of its own at /mnt.
 */
#include "script.h"
#include <cosy/cosy.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#define DISK  "/dev/vda"
#define FILES "/mnt"
#define FAIL  "/sys/fs/ext4/vda/trigger_fs_error"

enum { SIZE = 8192, EXT4 = 0xef53, PAIRS = 5 };

static char text[SIZE];

static int file_make(void)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);

	memset(text, 'a', SIZE);
	MUST(fd >= 0 && write(fd, text, SIZE) == SIZE);
	return fd;
}

/* Makes the calls after the file system has failed; returns 0 or their errors. */
static void calls_make(int fd, char *bytes, int *ret)
{
	for (int i = 0; i < 2 * PAIRS; i += 2) {
		ret[i] = pread(fd, bytes, 10, 0) < 0 ? errno : 0;
		ret[i + 1] = pwrite(fd, bytes, 10, 0) < 0 ? errno : 0;
	}
}

static void failed_before(int fd)
{
	int native[2 * PAIRS], got[2 * PAIRS], trigger;
	char *bytes = cosy_malloc(SIZE);

	trigger = open(FAIL, O_WRONLY);
	MUST(bytes && trigger >= 0 && write(trigger, "x", 1) == 1 && !close(trigger));
	calls_make(fd, bytes, native);
	stale_file_systems();
	COSY_START;
	calls_make(fd, bytes, got);
	COSY_END;
	for (int i = 0; i < 2 * PAIRS; i++)
		CHECK(got[i] == native[i], "%s %d: %s, natively %s", i % 2 ? "write" : "read", i,
		      strerror(got[i]), strerror(native[i]));
	cosy_free(bytes);
}

/* A write of a view that is refused before the file system hears of it makes no later read speak for writes. */
static void refused_before(int fd)
{
	int mem = memfd_create("view", 0), view, refused, read, written, native[2];
	char *b;

	script_init();
	b = script_buffer;
	MUST(mem >= 0 && write(mem, text, SIZE) == SIZE);
	native[0] = pread(fd, text, 10, 0) < 0 ? -errno : 10;
	native[1] = pwrite(fd, text, 10, 0) < 0 ? -errno : 10;
	stale_file_systems();
	script_begin();
	SYS(pread64, mem, b + SIZE, 1, 0);
	view = OP(view_pread, mem, b, 4096, 0);
	refused = SYS(pwrite64, fd, b, 4096, LLONG_MAX - 10);
	read = SYS(pread64, fd, b + SIZE, 10, 0);
	written = SYS(pwrite64, fd, b + SIZE, 10, 0);
	script_run();
	CHECK_RESULT(view, 4096);
	CHECK_RESULT(refused, -EINVAL);
	CHECK_RESULT(read, native[0]);
	CHECK_RESULT(written, native[1]);
	close(mem);
}

int main(void)
{
	struct statfs files;
	int fd;

	if (geteuid() || statfs(FILES, &files) || files.f_type != EXT4)
		SKIP("this takes root, and a disk with ext4");
	MUST(!chdir(FILES));
	MUST(!mount(DISK, FILES, "ext4", MS_REMOUNT, "errors=remount-ro"));
	fd = file_make();
	failed_before(fd);
	refused_before(fd);
	close(fd);
	return check_end();
}
