/* SPDX-License-Identifier: MIT */
/*
 * Changes modes and times by name: results, what is changed and what others are told are those of the calls themselves,
 * whatever the names lead to, and changes of files and directories are made by the specialised versions.
 */
#include "guards.h"
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#define TIMES 4

/* What has attributes here; all get the same before each comparison. */
static const char *const targets[] = { "file", "d", "d/inner", "short", "dangling" };
#define TARGETS (sizeof(targets) / sizeof(*targets))

/* All attributes that the calls may set, of all targets. */
struct attributes {
	struct {
		mode_t mode;
		struct timespec accessed, modified;
	} of[TARGETS];
};

static void attributes_reset(void)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000, .tv_nsec = 5 } };

	for (size_t i = 0; i < TARGETS; i++) {
		utimensat(AT_FDCWD, targets[i], old, AT_SYMLINK_NOFOLLOW);
		if (i < 3)
			MUST(!chmod(targets[i], 0700));
	}
}

/* Times of now are all the same: the clock goes on. */
static struct timespec time_told(struct timespec time)
{
	return time.tv_sec > 1000000000 ? (struct timespec){ .tv_sec = 1 } : time;
}

static struct attributes attributes_get(void)
{
	struct attributes ret;
	struct stat st;

	memset(&ret, 0, sizeof(ret));
	for (size_t i = 0; i < TARGETS; i++) {
		/* The directory may be closed to this user now. */
		if (lstat(targets[i], &st))
			continue;
		ret.of[i].mode = st.st_mode;
		ret.of[i].accessed = time_told(st.st_atim);
		ret.of[i].modified = time_told(st.st_mtim);
	}
	return ret;
}

static void same_mode(int dirfd, const char *name, unsigned mode)
{
	struct attributes got, want;
	long result[TIMES], wanted;

	attributes_reset();
	COSY_START;
	for (int i = 0; i < TIMES; i++)
		result[i] = result_of(dirfd == AT_FDCWD && i % 2
					      ? syscall(SYS_chmod, name, mode)
					      : syscall(SYS_fchmodat, dirfd, name, mode));
	COSY_END;
	got = attributes_get();
	attributes_reset();
	wanted = result_of(syscall(SYS_fchmodat, dirfd, name, mode));
	want = attributes_get();
	for (int i = 0; i < TIMES; i++)
		CHECK(result[i] == wanted, "chmod(%d, \"%.40s\", %o), %d: %ld, not %ld", dirfd,
		      name ? name : "NULL", mode, i, result[i], wanted);
	CHECK(!memcmp(&got, &want, sizeof(want)), "chmod(%d, \"%.40s\", %o): other attributes",
	      dirfd, name ? name : "NULL", mode);
}

static void same_times(int dirfd, const char *name, const struct timespec *times, int flags)
{
	struct attributes got, want;
	long result[TIMES], wanted;

	attributes_reset();
	COSY_START;
	for (int i = 0; i < TIMES; i++)
		result[i] = result_of(syscall(SYS_utimensat, dirfd, name, times, flags));
	COSY_END;
	got = attributes_get();
	attributes_reset();
	wanted = result_of(syscall(SYS_utimensat, dirfd, name, times, flags));
	want = attributes_get();
	for (int i = 0; i < TIMES; i++)
		CHECK(result[i] == wanted, "utimensat(%d, \"%.40s\", %p, %x), %d: %ld, not %ld",
		      dirfd, name ? name : "NULL", (const void *)times, (unsigned)flags, i,
		      result[i], wanted);
	CHECK(!memcmp(&got, &want, sizeof(want)),
	      "utimensat(%d, \"%.40s\", %p, %x): other attributes", dirfd, name ? name : "NULL",
	      (const void *)times, (unsigned)flags);
}

static void all_names(void)
{
	static const char *const names[] = {
		"file",
		"d",
		"d/inner",
		"./file",
		"short",
		"dangling",
		"to-d",
		"to-d/inner",
		"to-d/",
		"d/../file",
		"none",
		"",
		"none/x",
		"file/x",
		"loop",
		"closed/inner",
		"/proc/self/comm",
		"/dev/null/x",
		NULL,
	};
	static const unsigned modes[] = { 0640, 0, 06711, 01777, 0xffff0604 };
	static const struct timespec times[][2] = {
		{ { .tv_sec = 5000, .tv_nsec = 7 }, { .tv_sec = 6000 } },
		{ { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } },
		{ { .tv_nsec = UTIME_OMIT }, { .tv_sec = -5 } },
		{ { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_OMIT } },
		{ { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } },
		{ { .tv_nsec = 1000000000 }, { .tv_sec = 6000 } },
	};
	static const int flags[] = { 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, 1 };
	int fds[] = { AT_FDCWD, open(".", O_RDONLY | O_DIRECTORY), open("d", O_RDONLY),
		      open("file", O_RDONLY), -1 };

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (size_t d = 0; d < sizeof(fds) / sizeof(*fds); d++) {
			for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++)
				same_mode(fds[d], names[n], modes[m]);
			for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); f++) {
				for (size_t t = 0; t < sizeof(times) / sizeof(*times); t++)
					same_times(fds[d], names[n], times[t], flags[f]);
				same_times(fds[d], names[n], NULL, flags[f]);
				same_times(fds[d], names[n], (const struct timespec *)8, flags[f]);
			}
		}
	for (size_t d = 1; d < 4; d++)
		close(fds[d]);
}

/* A program changes all files of a directory. */
static void specialised(void)
{
	const struct timespec times[2] = { { .tv_sec = 3000 }, { .tv_sec = 4000 } };
	struct cosy_stats before = counts();
	char name[4] = "";
	struct stat st;
	long failed = 0;
	int dir;

	MUST(!mkdir("files", 0755));
	dir = open("files", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	for (int i = 0; i < 100; i++) {
		name[0] = (char)('0' + i / 10);
		name[1] = (char)('0' + i % 10);
		MUST(!close(openat(dir, name, O_CREAT | O_WRONLY, 0600)));
	}
	COSY_START;
	for (int i = 0; i < 100; i++) {
		name[0] = (char)('0' + i / 10);
		name[1] = (char)('0' + i % 10);
		failed += fchmodat(dir, name, 0640, 0);
		failed += utimensat(dir, name, times, 0);
	}
	COSY_END;
	CHECK(!failed, "%ld failed", failed);
	CHECK_FAST(before, 195);
	for (int i = 0; i < 100; i++) {
		name[0] = (char)('0' + i / 10);
		name[1] = (char)('0' + i % 10);
		MUST(!fstatat(dir, name, &st, 0));
		CHECK((st.st_mode & 07777) == 0640 && st.st_atim.tv_sec == 3000 &&
			      st.st_mtim.tv_sec == 4000,
		      "%s: mode %o, times %ld and %ld", name, st.st_mode, (long)st.st_atim.tv_sec,
		      (long)st.st_mtim.tv_sec);
		MUST(!unlinkat(dir, name, 0));
	}
	close(dir);
	MUST(!rmdir("files"));
}

/* Others are told of each change. */
static void told(void)
{
	char events[4096];
	long failed = 0, got;
	int watch = inotify_init1(IN_NONBLOCK), count = 0;

	MUST(watch >= 0 && inotify_add_watch(watch, "file", IN_ATTRIB) >= 0);
	COSY_START;
	for (int i = 0; i < TIMES; i++) {
		failed += chmod("file", i % 2 ? 0600 : 0640);
		failed += utimensat(AT_FDCWD, "file", NULL, 0);
		/* Events that are the same one after the other are one. */
		failed += read(watch, events + i * 64, 64) < 16;
	}
	COSY_END;
	while ((got = read(watch, events, sizeof(events))) > 0)
		count += (int)(got / (long)sizeof(struct inotify_event));
	CHECK(!failed && !count, "%ld failed, %d events more", failed, count);
	close(watch);
}

/* A mount that is read-only, and a user who does not own the file. */
static void refused(void)
{
	long result[TIMES], times[TIMES];

	if (geteuid())
		return;
	MUST(!mount("d", "d", NULL, MS_BIND, NULL) &&
	     !mount(NULL, "d", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL));
	COSY_START;
	for (int i = 0; i < TIMES; i++) {
		result[i] = result_of(syscall(SYS_chmod, "d/inner", 0640));
		times[i] = result_of(syscall(SYS_utimensat, AT_FDCWD, "d/inner", NULL, 0));
	}
	COSY_END;
	MUST(!umount("d"));
	for (int i = 0; i < TIMES; i++)
		CHECK(result[i] == -EROFS && times[i] == -EROFS, "%d: %ld and %ld", i, result[i],
		      times[i]);
	MUST(!chmod(".", 0711) && !seteuid(65534));
	COSY_START;
	for (int i = 0; i < TIMES; i++) {
		result[i] = result_of(syscall(SYS_chmod, "file", 0640));
		times[i] = result_of(syscall(SYS_utimensat, AT_FDCWD, "file", NULL, 0));
	}
	COSY_END;
	MUST(!seteuid(0));
	for (int i = 0; i < TIMES; i++)
		CHECK(result[i] == -EPERM && times[i] == -EACCES, "user, %d: %ld and %ld", i,
		      result[i], times[i]);
}

int main(void)
{
	directory_enter();
	MUST(!mkdir("d", 0755) && !mkdir("closed", 0755) &&
	     !close(open("file", O_CREAT | O_WRONLY, 0600)) &&
	     !close(open("d/inner", O_CREAT | O_WRONLY, 0600)) &&
	     !close(open("closed/inner", O_CREAT | O_WRONLY, 0600)));
	MUST(!symlink("file", "short") && !symlink("none", "dangling") && !symlink("d", "to-d") &&
	     !symlink("loop", "loop") && !chmod("closed", 0));
	all_names();
	attributes_reset();
	specialised();
	told();
	refused();
	MUST(!chmod("closed", 0700) && !unlink("closed/inner") && !unlink("d/inner") &&
	     !unlink("short") && !unlink("dangling") && !unlink("to-d") && !unlink("loop") &&
	     !unlink("file") && !rmdir("d") && !rmdir("closed"));
	directory_leave();
	return check_end();
}
