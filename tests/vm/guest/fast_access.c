/* SPDX-License-Identifier: MIT */
/*
 * Queries permissions by access, faccessat and faccessat2.  A region gets the results of the
 * ordinary calls, for all kinds of files, and for processes whose real and effective ids differ.
 */
#include "change.h"
#include "guards.h"
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define TIMES 3

static const char *const names[] = {
	"file",	      "runs",	  "secret",	"theirs",     "group",		"private",
	"d",	      "closed",	  "d/file",	"./file",     "none",		"",
	".",	      "..",	  "none/x",	"file/x",     "to-file",	"to-secret",
	"to-d/x",     "dangling", "loop",	"fifo",	      "d/../file",	"closed/in",
	"d/",	      "/",	  "/proc",	"/dev/null",  "noexec/runs",	"noexec",
	"fixed/runs", "fixed",	  "fixed/fifo", "fixed/none", "fixed/open/file"
};

static const int modes[] = { F_OK, R_OK, W_OK, X_OK, R_OK | W_OK, R_OK | X_OK, 7, 8, -1 };

/* Compares the calls in a region, each made several times, with those outside. */
static void same_answer(const char *who, int dirfd, const char *name, int mode, int flags)
{
	long got[3][TIMES], want[3];

	COSY_START;
	for (int i = 0; i < TIMES; i++)
		got[0][i] = result_of(syscall(SYS_access, name, mode));
	for (int i = 0; i < TIMES; i++)
		got[1][i] = result_of(syscall(SYS_faccessat, dirfd, name, mode));
	for (int i = 0; i < TIMES; i++)
		got[2][i] = result_of(syscall(SYS_faccessat2, dirfd, name, mode, flags));
	COSY_END;
	want[0] = result_of(syscall(SYS_access, name, mode));
	want[1] = result_of(syscall(SYS_faccessat, dirfd, name, mode));
	want[2] = result_of(syscall(SYS_faccessat2, dirfd, name, mode, flags));
	for (int i = 0; i < 3 * TIMES; i++)
		CHECK(got[i / TIMES][i % TIMES] == want[i / TIMES],
		      "%s, call %d of (%d, \"%s\", %d, %#x), %d: %ld, not %ld", who, i / TIMES,
		      dirfd, name, mode, flags, i % TIMES, got[i / TIMES][i % TIMES],
		      want[i / TIMES]);
}

static void all_names(const char *who)
{
	static const int flags[] = {
		0, AT_SYMLINK_NOFOLLOW, AT_EACCESS, AT_EACCESS | AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH,
		1
	};
	int fds[] = { AT_FDCWD, open(".", O_RDONLY | O_DIRECTORY), open(".", O_PATH), -1 };

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++) {
			for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); f++)
				same_answer(who, fds[1], names[n], modes[m], flags[f]);
			for (size_t d = 0; d < sizeof(fds) / sizeof(*fds); d++)
				same_answer(who, fds[d], names[n], modes[m], 0);
		}
	same_answer(who, AT_FDCWD, NULL, 0, 0);
	close(fds[1]);
	close(fds[2]);
}

/* --- Users --------------------------------------------------------------------------------- */

static void capabilities_set(unsigned int effective, unsigned int permitted)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { effective, permitted, 0 } };

	MUST(!syscall(SYS_capset, &head, data));
}

#define OVERRIDES (1u << CAP_DAC_OVERRIDE)

static const struct user {
	const char *name;
	uid_t real, effective;
	gid_t real_group, effective_group;
	bool keeps;		     /* its capabilities */
	unsigned int permitted, has; /* unless 0; in effect */
	unsigned int securebits;
} users[] = {
	{ .name = "root" },
	{ "nobody", 65534, 65534, 65534, 65534, .keeps = false },
	{ "root as nobody", 0, 65534, 0, 65534, .keeps = false },
	{ "nobody as root", 65534, 0, 65534, 0, .keeps = false },
	{ "root with another group", 0, 0, 0, 65534, .keeps = false },
	{ "one user as another", 1000, 65534, 1000, 1000, .keeps = false },
	{ "one group as another", 1000, 1000, 1000, 65534, .keeps = false },
	{ "nobody with a capability", 65534, 65534, 65534, 65534, true, OVERRIDES, OVERRIDES, 0 },
	{ "nobody who has put it away", 65534, 65534, 65534, 65534, true, OVERRIDES, 0, 0 },
	{ "root who has put it away", 0, 0, 0, 0, false, OVERRIDES, 0, 0 },
	{ "root with a capability", 0, 0, 0, 0, false, OVERRIDES, OVERRIDES, 0 },
	{ "nobody, no fixup", 65534, 65534, 65534, 65534, true, OVERRIDES, OVERRIDES,
	  SECBIT_NO_SETUID_FIXUP },
	{ "root, no fixup", 0, 0, 0, 0, false, OVERRIDES, 0, SECBIT_NO_SETUID_FIXUP },
};

static void user_become(const struct user *user)
{
	const gid_t group = 65533;

	MUST(!setgroups(1, &group));
	if (user->securebits)
		MUST(!prctl(PR_SET_SECUREBITS, user->securebits));
	if (user->keeps)
		MUST(!prctl(PR_SET_KEEPCAPS, 1));
	MUST(!setresgid(user->real_group, user->effective_group, -1));
	MUST(!setresuid(user->real, user->effective, -1));
	if (user->permitted)
		capabilities_set(user->has, user->permitted);
}

static void as_user(void *arg)
{
	const struct user *user = arg;
	long unused = 0;

	/* A user who may not open the device uses it all the same. */
	COSY_START;
	unused += getppid();
	COSY_END;
	MUST(unused);
	user_become(user);
	all_names(user->name);
}

/* --- What is specialised ---------------------------------------------------------------------- */

static void specialised(void)
{
	struct cosy_stats before = counts();
	long failed = 0;
	char name[8];
	int dir;

	MUST(!mkdir("many", 0755));
	dir = open("many", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%03d", i);
		MUST(!close(openat(dir, name, O_CREAT | O_WRONLY, 0700)));
	}
	COSY_START;
	for (int i = 0; i < 200; i++) {
		name[0] = '0' + i / 100;
		name[1] = '0' + i / 10 % 10;
		name[2] = '0' + i % 10;
		name[3] = 0;
		failed += faccessat(dir, name, R_OK | X_OK, 0);
		failed += access("file", W_OK);
		failed += access("d/file", R_OK);
		failed += faccessat(dir, name, R_OK, AT_EACCESS);
	}
	COSY_END;
	CHECK(!failed, "%ld", failed);
	CHECK_FAST(before, 780);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%03d", i);
		unlinkat(dir, name, 0);
	}
	close(dir);
	rmdir("many");
}

/* --- Changed by another process ---------------------------------------------------------- */

static void file_close(unsigned int turn)
{
	if (chmod("d/file", turn % 2 ? 0 : 0444))
		_exit(1);
}

static void way_close(unsigned int turn)
{
	if (chmod("d", turn % 2 ? 0 : 0755))
		_exit(1);
}

static void mount_fix(unsigned int turn)
{
	if (mount(NULL, "turns", NULL, MS_REMOUNT | MS_BIND | (turn % 2 ? MS_RDONLY : 0), NULL))
		_exit(1);
}

static void mount_stop(unsigned int turn)
{
	if (mount(NULL, "turns", NULL, MS_REMOUNT | MS_BIND | (turn % 2 ? MS_NOEXEC : 0), NULL))
		_exit(1);
}

/* Checks that a process that has seen that a change is done gets the other answer. */
static void follow(const char *what, void (*make)(unsigned int), const char *name, int mode,
		   int error)
{
	struct cosy_stats before = counts();
	unsigned long late = 0, followed = 0;
	pid_t pid;

	pid = changes_start(make);
	/* The other process is root, which changes what this thread may not. */
	syscall(SYS_setfsuid, 65534);
	for (unsigned int turn = 1; turn <= 20; turn++) {
		unsigned int done = 0;
		long got = 0;

		COSY_START;
		for (int i = 0; i < 4; i++)
			got = result_of(syscall(SYS_faccessat2, AT_FDCWD, name, mode, AT_EACCESS));
		change->asked = turn;
		for (long i = 0; i < 2000000 && !done; i++) {
			done = change->done == turn;
			got = result_of(syscall(SYS_faccessat2, AT_FDCWD, name, mode, AT_EACCESS));
		}
		COSY_END;
		followed += done;
		late += done && got != (turn % 2 ? -error : 0);
	}
	syscall(SYS_setfsuid, 0);
	changes_stop(pid);
	CHECK(followed == 20 && !late, "%s: %lu followed, %lu late", what, followed, late);
	CHECK_FAST(before, 40);
}

static void following(void)
{
	change = shared_memory(4096);
	follow("file", file_close, "d/file", R_OK, EACCES);
	follow("directory", way_close, "d/file", F_OK, EACCES);
	follow("read-only mount", mount_fix, "turns/runs", W_OK, EROFS);
	follow("mount without programs", mount_stop, "turns/runs", X_OK, EACCES);
	MUST(!munmap(change, 4096));
}

/* --- Files ----------------------------------------------------------------------------------- */

static void file_make(const char *name, mode_t mode, uid_t user, gid_t group)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);

	MUST(fd >= 0 && !fchmod(fd, mode) && !fchown(fd, user, group) && !close(fd));
}

static void mount_make(const char *name, unsigned long flags)
{
	char path[32];

	MUST(!mkdir(name, 0755) && !mount("none", name, "tmpfs", 0, NULL) && !chmod(name, 0755));
	snprintf(path, sizeof(path), "%s/runs", name);
	file_make(path, 0777, 0, 0);
	snprintf(path, sizeof(path), "%s/fifo", name);
	MUST(!mkfifo(path, 0600) && !chmod(path, 0666));
	snprintf(path, sizeof(path), "%s/open", name);
	MUST(!mkdir(path, 0755) && !chmod(path, 0777));
	snprintf(path, sizeof(path), "%s/open/file", name);
	file_make(path, 0644, 65534, 0);
	MUST(!mount(NULL, name, NULL, MS_REMOUNT | MS_BIND | flags, NULL));
}

static void files_make(void)
{
	MUST(!chmod(".", 0755) && !mkdir("d", 0755) && !mkdir("closed", 0700));
	file_make("file", 0644, 0, 0);
	file_make("runs", 0755, 0, 0);
	file_make("secret", 0600, 0, 0);
	file_make("theirs", 0000, 65534, 65534);
	file_make("group", 0070, 0, 65534);
	file_make("private", 0700, 65534, 0);
	file_make("d/file", 0644, 0, 0);
	file_make("closed/in", 0644, 0, 0);
	MUST(!mkfifo("fifo", 0644) && !symlink("file", "to-file") &&
	     !symlink("secret", "to-secret") && !symlink("d", "to-d") &&
	     !symlink("nowhere", "dangling") && !symlink("loop", "loop"));
	mount_make("noexec", MS_NOEXEC);
	mount_make("fixed", MS_RDONLY);
	mount_make("turns", 0);
}

static void files_remove(void)
{
	static const char *const made[] = { "file",	 "runs",   "private",	"secret", "theirs",
					    "group",	 "d/file", "closed/in", "fifo",	  "to-file",
					    "to-secret", "to-d",   "dangling",	"loop" };
	static const char *const mounts[] = { "noexec", "fixed", "turns" };

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++)
		MUST(!umount2(mounts[i], MNT_DETACH) && !rmdir(mounts[i]));
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		MUST(!unlink(made[i]));
	MUST(!rmdir("d") && !rmdir("closed"));
}

int main(void)
{
	if (geteuid())
		SKIP("it needs root, to be other users");
	directory_enter();
	files_make();
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		CHECK_CHILD(in_child(as_user, (void *)&users[i]));
	specialised();
	following();
	files_remove();
	directory_leave();
	return check_end();
}
