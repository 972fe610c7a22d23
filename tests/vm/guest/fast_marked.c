/* SPDX-License-Identifier: MIT */
/*
 * Checks that every COSY_FAST_CALL of core/ops.def is answered by its specialised version if all
 * its guards hold.  (The linker checks that there is a version.)
 */
#include "script.h"
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

static const struct marked {
	const char *name;
	int number;
} calls[] = {
#define COSY_FAST_CALL(number, name, args, flags, views) { #name, number },
#include "../../../core/ops.def"
};

static int file, folder, peers[2];

/* Bytes that are a view when a call begins. */
#define VIEWED (script_buffer + 16384)
/* Result of the call that is looked at. */
#define RESULT script_result[3]

/* Adds one call with arguments that its version is for; false: this test knows none. */
static bool add(int number)
{
	char *buffer = script_buffer;

	switch (number) {
	case SYS_read:
		SYS(read, file, buffer, 8);
		return true;
	case SYS_write:
		SYS(write, file, buffer, 7);
		return true;
	case SYS_pread64:
		SYS(pread64, file, buffer, 8, 0);
		return true;
	case SYS_pwrite64:
		SYS(pwrite64, file, buffer, 7, 0);
		return true;
	case SYS_lseek:
		SYS(lseek, file, 0, SEEK_SET);
		return true;
	case SYS_sendto:
		SYS(sendto, peers[0], VIEWED, 8, 0, 0);
		return true;
	case SYS_stat:
		SYS(stat, "file", buffer);
		return true;
	case SYS_lstat:
		SYS(lstat, "file", buffer);
		return true;
	case SYS_fstat:
		SYS(fstat, file, buffer);
		return true;
	case SYS_newfstatat:
		SYS(newfstatat, folder, "file", buffer, AT_SYMLINK_NOFOLLOW);
		return true;
	case SYS_statx:
		SYS(statx, folder, "file", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, buffer);
		return true;
	case SYS_getxattr:
		SYS(getxattr, "file", "security.capability", buffer, 64);
		return true;
	case SYS_lgetxattr:
		SYS(lgetxattr, "file", "security.capability", buffer, 64);
		return true;
	case SYS_readlink:
		SYS(readlink, "link", buffer, 64);
		return true;
	case SYS_readlinkat:
		SYS(readlinkat, folder, "link", buffer, 64);
		return true;
	case SYS_open:
		SYS(open, "file", O_RDONLY);
		return true;
	case SYS_openat:
		SYS(openat, folder, "file", O_RDONLY);
		return true;
	case SYS_close:
		SYS(close, dup(file));
		return true;
	case SYS_access:
		SYS(access, "file", R_OK);
		return true;
	case SYS_faccessat:
		SYS(faccessat, folder, "file", R_OK);
		return true;
	case SYS_chmod:
		SYS(chmod, "file", 0644);
		return true;
	case SYS_fchmodat:
		SYS(fchmodat, folder, "file", 0644);
		return true;
	case SYS_utimensat:
		SYS(utimensat, folder, "file", NULL, 0);
		return true;
	case SYS_faccessat2:
		SYS(faccessat2, folder, "file", R_OK, AT_EACCESS);
		return true;
	case SYS_getdents64:
		SYS(getdents64, folder, buffer, 4096);
		return true;
	case SYS_clock_gettime:
		SYS(clock_gettime, CLOCK_MONOTONIC, buffer);
		return true;
	case SYS_gettimeofday:
		SYS(gettimeofday, buffer, 0);
		return true;
	case SYS_time:
		SYS(time, NULL);
		return true;
	case SYS_gettid:
	case SYS_getppid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
		script_call(number, 0, 0, 0, 0, 0);
		return true;
	default:
		return false;
	}
}

/* Makes the ordinary calls that guards which look at recent ones need, and a view. */
static void begin(void)
{
	script_begin();
	SYS(pread64, file, script_buffer, 1, 0);
	SYS(lseek, file, 0, SEEK_SET);
	OP(view_pread, file, VIEWED, 8, 0);
}

/* Makes the call.  Returns whether it took its specialised version, or cannot be told. */
static bool is_answered(const struct marked *call)
{
	uint64_t without;

	begin();
	script_run();
	begin();
	script_run();
	without = FAST();
	begin();
	MUST(add(call->number));
	script_run();
	/* The file has no such attribute. */
	CHECK(RESULT >= 0 || RESULT == -ENODATA, "%s: %lld", call->name, (long long)RESULT);
	return !AT_ONCE() || FAST() > without;
}

static void check_marked(const struct marked *call)
{
	begin();
	if (!add(call->number)) {
		CHECK(0, "%s is marked, and this test knows no way to its version", call->name);
		return;
	}
	/* A safepoint in the middle takes the view, or what FRESH asks for. */
	for (int turn = 0; turn < 5; turn++)
		if (is_answered(call))
			return;
	CHECK(0, "%s was made the ordinary way", call->name);
}

int main(void)
{
	char template[] = "/tmp/marked-XXXXXX";

	if (!kernel_expected())
		return 77;
	MUST(mkdtemp(template) && !chdir(template));
	folder = open(".", O_RDONLY | O_DIRECTORY);
	file = open("file", O_RDWR | O_CREAT, 0600);
	MUST(folder >= 0 && file >= 0 && write(file, "some text, to be read", 21) == 21);
	MUST(!symlink("file", "link") && !socketpair(AF_UNIX, SOCK_STREAM, 0, peers));
	script_init();
	for (size_t i = 0; i < COUNT(calls); i++)
		check_marked(&calls[i]);
	MUST(!unlink("link") && !unlink("file") && !chdir("/") && !rmdir(template));
	return check_end();
}
