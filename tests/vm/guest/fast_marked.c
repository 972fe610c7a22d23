/* SPDX-License-Identifier: MIT */
/*
 * Checks that every COSY_FAST_CALL of core/ops.def is answered by its specialised version if all
 * its guards hold.  (The linker checks that there is a version.)
 */
#include "script.h"
#include <sys/stat.h>
#include <sys/time.h>

static const struct marked {
	const char *name;
	int number;
} calls[] = {
#define COSY_FAST_CALL(number, name, args, flags, views) { #name, number },
#include "../../../core/ops.def"
};

static int file, folder;

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

/* Makes the ordinary calls that guards which look at recent ones need. */
static void begin(void)
{
	script_begin();
	SYS(pread64, file, script_buffer, 1, 0);
	SYS(lseek, file, 0, SEEK_SET);
}

static void check_marked(const struct marked *call)
{
	uint64_t without;

	begin();
	script_run();
	begin();
	script_run();
	without = FAST();
	begin();
	if (!add(call->number)) {
		CHECK(0, "%s is marked, and this test knows no way to its version", call->name);
		return;
	}
	script_run();
	/* The file has no such attribute. */
	CHECK(script_result[2] >= 0 || script_result[2] == -ENODATA, "%s: %lld", call->name,
	      (long long)script_result[2]);
	CHECK(!AT_ONCE() || FAST() > without, "%s was made the ordinary way", call->name);
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
	script_init();
	for (size_t i = 0; i < COUNT(calls); i++)
		check_marked(&calls[i]);
	MUST(!unlink("file") && !chdir("/") && !rmdir(template));
	return check_end();
}
