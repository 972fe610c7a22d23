/* SPDX-License-Identifier: MIT */
/*
 * Has a file system fail before a region and while one sleeps: what the region reads and writes
 * there fails as natively, also where reads still succeed.  As root, on a disk of its own at /mnt,
 * which cannot be used after it.
 */
#include "script.h"
#include <cosy/cosy.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#define DISK  "/dev/vda"
#define FILES "/mnt"
#define FAIL  "/sys/fs/ext4/vda/trigger_fs_error"

/* From the kernel's own header. */
#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t)

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
	int native[2 * PAIRS], got[2 * PAIRS];
	char *bytes = cosy_malloc(SIZE);

	MUST(bytes);
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

/*
 * Lets the file system fail while a region sleeps in a call: what the region did there before says
 * nothing of it any more, whether or not the region reads from another one (`other`) then.
 */
static void failed_meanwhile(int fd, int other, const char *how, void (*fail)(int fd))
{
	int ask[2], tell[2], before[2], after[2], native[2], first[2], status;
	char *b = script_buffer;
	pid_t pid;

	MUST(!pipe(ask) && !pipe(tell));
	pid = child_start();
	if (!pid) {
		MUST(read(ask[0], text, 1) == 1);
		while (!is_asleep(getppid()))
			sleep_ms(1);
		fail(fd);
		_exit(write(tell[1], text, 1) != 1);
	}
	script_begin();
	first[0] = SYS(pread64, fd, b, 10, 0);
	first[1] = SYS(pwrite64, fd, b, 10, 0);
	before[0] = SYS(pread64, fd, b, 10, 0);
	before[1] = SYS(pwrite64, fd, b, 10, 0);
	SYS(write, ask[1], b, 1);
	SYS(read, tell[0], b, 1);
	if (other >= 0)
		SYS(pread64, other, b, 1, 0);
	after[0] = SYS(pread64, fd, b, 10, 0);
	after[1] = SYS(pwrite64, fd, b, 10, 0);
	script_run();
	native[0] = pread(fd, text, 10, 0) < 0 ? -errno : 10;
	native[1] = pwrite(fd, text, 10, 0) < 0 ? -errno : 10;
	for (int i = 0; i < 2; i++) {
		CHECK(script_result[before[i]] == script_result[first[i]],
		      "%s: two %ss before it differ", how, i ? "write" : "read");
		CHECK_RESULT(after[i], native[i]);
	}
	MUST(waitpid(pid, &status, 0) == pid && !status);
	for (int i = 0; i < 2; i++)
		MUST(!close(ask[i]) && !close(tell[i]));
}

static void fail_in_error(int fd)
{
	int trigger = open(FAIL, O_WRONLY);

	(void)fd;
	MUST(trigger >= 0 && write(trigger, "x", 1) == 1 && !close(trigger));
}

static void fail_shut_down(int fd)
{
	uint32_t without_flush = 2;

	MUST(!ioctl(fd, EXT4_IOC_SHUTDOWN, &without_flush));
}

/* A write of a view that is refused before the file system hears of it makes no later read speak for writes. */
static void refused_before(int fd)
{
	int mem = memfd_create("view", 0), view, refused, read, written, native[2];
	char *b;

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

/* Takes the failed file system away, and begins with it anew.  Returns the file. */
static int mount_again(int fd)
{
	MUST(!close(fd) && !chdir("/") && !umount(FILES));
	MUST(!mount(DISK, FILES, "ext4", 0, "errors=remount-ro") && !chdir(FILES));
	return file_make();
}

int main(void)
{
	int fd, other = memfd_create("other", 0);
	struct statfs files;

	if (geteuid() || statfs(FILES, &files) || files.f_type != EXT4)
		SKIP("this takes root, and a disk with ext4");
	MUST(!chdir(FILES) && other >= 0 && write(other, "x", 1) == 1);
	MUST(!mount(DISK, FILES, "ext4", MS_REMOUNT, "errors=remount-ro"));
	fd = file_make();
	script_init();
	failed_meanwhile(fd, -1, "in error", fail_in_error);
	failed_before(fd);
	refused_before(fd);
	fd = mount_again(fd);
	failed_meanwhile(fd, -1, "shut down", fail_shut_down);
	failed_before(fd);
	fd = mount_again(fd);
	failed_meanwhile(fd, other, "shut down, another read", fail_shut_down);
	close(fd);
	close(other);
	return check_end();
}
