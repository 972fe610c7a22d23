// SPDX-License-Identifier: MIT
/* copy_tree_test.c - cosy_copy_tree against cp and diff, and cosy_remove_tree. */
#include <signal.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cosy/files.h>

#include "tree.h"

static char failed_paths[1024];
static int failed_error;
static bool failed_stops;

static int note_failure(void *argument, const char *path, int error)
{
	MUST(argument == failed_paths);
	if (strlen(failed_paths) + strlen(path) + 2 < sizeof(failed_paths))
		strcat(strcat(failed_paths, path), " ");
	failed_error = error;
	return failed_stops;
}

static int copy(const char *from, const char *to, uint32_t flags)
{
	struct cosy_copy_options options = {
		.size = sizeof(options),
		.flags = flags,
		.failed = note_failure,
		.argument = failed_paths,
	};

	failed_paths[0] = 0;
	failed_error = 0;
	errno = 0;
	return cosy_copy_tree(AT_FDCWD, from, AT_FDCWD, to, &options);
}

static int removes(const char *path, uint32_t flags)
{
	struct cosy_remove_options options = {
		.size = sizeof(options),
		.flags = flags,
		.failed = note_failure,
		.argument = failed_paths,
	};

	failed_paths[0] = 0;
	failed_error = 0;
	errno = 0;
	return cosy_remove_tree(AT_FDCWD, path, &options);
}

static bool run(const char *command)
{
	return !system(command);
}

/* Returns whether two trees have the same names, bytes, modes, links and, with `times`, times. */
static bool same(const char *a, const char *b, bool times)
{
	char command[512];
	const char *format = times ? "%P %y %m %l %T@\\n" : "%P %y %m %l\\n";

	snprintf(command, sizeof(command),
		 "diff -r --no-dereference %s %s 2>&1 | grep -v '^File .* is a fifo' | grep . && "
		 "exit 1; "
		 "find %s -printf '%s' | sort >one; find %s -printf '%s' | sort >two; cmp -s one "
		 "two",
		 a, b, a, format, b, format);
	return run(command);
}

static mode_t mode_of(const char *path)
{
	struct stat stat;

	MUST(!lstat(path, &stat));
	return stat.st_mode & 07777;
}

/* If set, another file takes the place of each FIFO and link as soon as that is made. */
static const char *usurper;

static int usurp(int result, int dirfd, const char *name)
{
	if (!result && usurper)
		MUST(!unlinkat(dirfd, name, 0) && !linkat(AT_FDCWD, usurper, dirfd, name, 0));
	return result;
}

/* In place of libc's: what cosy_copy_tree calls. */
int mknodat(int dirfd, const char *name, mode_t mode, dev_t device)
{
	return usurp(syscall(SYS_mknodat, dirfd, name, mode, device), dirfd, name);
}

int symlinkat(const char *target, int dirfd, const char *name)
{
	return usurp(syscall(SYS_symlinkat, target, dirfd, name), dirfd, name);
}

static void source_make(void)
{
	char name[300];

	dir_make("from");
	dir_make("from/dir");
	dir_make("from/dir/empty");
	dir_make("from/read-only");
	file_make("from/file", 10);
	file_make("from/dir/0", 0);
	file_make("from/dir/large", 300000);
	file_make("from/read-only/f", 5);
	for (int i = 0; i < 100; i++) {
		sprintf(name, "from/dir/file-%d", i);
		file_make(name, i);
	}
	memset(name, 'x', sizeof(name));
	memcpy(name, "from/", 5);
	name[5 + 255] = 0;
	file_make(name, 7);
	MUST(!symlink("file", "from/link") && !symlink("/nowhere", "from/dangling"));
	MUST(!mkfifo("from/fifo", 0640));
	MUST(!chmod("from/file", 0751) && !chmod("from/read-only", 0555));
	MUST(run("find from -exec touch -h -d '2001-02-03 04:05:06.789' {} +"));
}

static void test_copy(void)
{
	int fds = fds_open();

	CHECK_EQ(copy("from", "to", 0), 0);
	CHECK(same("from", "to", false));
	CHECK_EQ(copy("from", "to", 0), -1);
	CHECK_EQ(errno, EEXIST);
	MUST(unlink("to/file") == 0 && !symlink("elsewhere", "to/file"));
	CHECK_EQ(copy("from", "to", COSY_COPY_INTO | COSY_COPY_TIMES), 0);
	CHECK(same("from", "to", true));
	CHECK_EQ(access("elsewhere", F_OK), -1);
	umask(077);
	CHECK_EQ(copy("from", "masked", 0), 0);
	CHECK(!same("from", "masked", false));
	CHECK(run("cp -r from cp; chmod 500 cp/read-only"));
	CHECK(same("masked", "cp", false));
	CHECK_EQ(copy("from", "exact", COSY_COPY_MODE | COSY_COPY_TIMES), 0);
	CHECK(same("from", "exact", true));
	umask(022);
	if (!geteuid()) {
		MUST(run("chown -h 1:2 from/link from/file from/fifo from/dir; chmod 6755 "
			 "from/file"));
		CHECK_EQ(copy("from", "owned", COSY_COPY_OWNER | COSY_COPY_MODE), 0);
		CHECK(run("cd from; find . -printf '%P %U %G %m\\n' | sort >../one; cd ../owned; "
			  "find . -printf '%P %U %G %m\\n' | sort | cmp - ../one"));
	}
	CHECK_EQ(fds_open(), fds);
}

static void test_copy_errors(void)
{
	struct cosy_copy_options options = {.size = sizeof(options), .flags = 1u << 5};

	CHECK(cosy_copy_tree(AT_FDCWD, "from", AT_FDCWD, "x", &options) == -1 && errno == EINVAL);
	options.flags = 0;
	options.size = 1;
	CHECK(cosy_copy_tree(AT_FDCWD, "from", AT_FDCWD, "x", &options) == -1 && errno == EINVAL);
	CHECK(cosy_copy_tree(AT_FDCWD, "nothing", AT_FDCWD, "x", NULL) == -1 && errno == ENOENT);
	CHECK(cosy_copy_tree(AT_FDCWD, "from/file", AT_FDCWD, "x", NULL) == -1 && errno == ENOTDIR);
	CHECK(copy("from", "from", COSY_COPY_INTO) == -1 && errno == EINVAL);
	/* Into itself: all but the copy is copied, once. */
	CHECK(copy("from", "from/copy", 0) == -1 && errno == EINVAL);
	CHECK_EQ(access("from/copy/dir/large", F_OK), 0);
	CHECK_EQ(access("from/copy/copy", F_OK), -1);
	MUST(run("rm -rf from/copy"));
	/* A file in place of a directory, and the other way round. */
	dir_make("mixed");
	dir_make("mixed/file");
	file_make("mixed/dir", 1);
	CHECK(copy("from", "mixed", COSY_COPY_INTO) == -1 && errno);
	CHECK(strstr(failed_paths, "from/file ") && strstr(failed_paths, "from/dir "));
	CHECK(!access("mixed/read-only/f", F_OK));
	/* Without a function, the first failure ends it. */
	MUST(run("rm -rf mixed; mkdir mixed; mkdir mixed/file"));
	options = (struct cosy_copy_options){.size = sizeof(options), .flags = COSY_COPY_INTO};
	CHECK(cosy_copy_tree(AT_FDCWD, "from", AT_FDCWD, "mixed", &options) == -1);
	CHECK_EQ(errno, EISDIR);
}

/* Merging leaves permissions of directories alone, and inherited bits stay. */
static void test_copy_merge(void)
{
	MUST(run(
		"mkdir -p merge/dir merge/new merge-to/dir; chmod 0500 merge merge/dir merge/new"));
	MUST(!chmod("merge-to", 03775) && !chmod("merge-to/dir", 01777));
	CHECK_EQ(copy("merge", "merge-to", COSY_COPY_INTO), 0);
	CHECK_EQ(mode_of("merge-to"), 03775);
	CHECK_EQ(mode_of("merge-to/dir"), 01777);
	CHECK_EQ(mode_of("merge-to/new"), 02500);
	CHECK_EQ(copy("merge", "merge-to", COSY_COPY_INTO | COSY_COPY_MODE), 0);
	CHECK_EQ(mode_of("merge-to"), 03500);
	CHECK_EQ(mode_of("merge-to/dir"), 01500);
	CHECK_EQ(mode_of("merge-to/new"), 02500);
}

/* Attributes are never given to a file that somebody else has put in the place of the new one. */
static void test_copy_usurped(void)
{
	const uint32_t flags = COSY_COPY_MODE | COSY_COPY_TIMES;

	MUST(run(
		"mkdir usurped victims; mkfifo -m 666 usurped/fifo; mkfifo -m 600 victims/fifo; "
		"touch -d 2001-02-03 usurped/fifo victims/fifo; touch -d 2011-02-03 usurped/fifo"));
	usurper = "victims/fifo";
	CHECK(copy("usurped", "usurped-to", flags) == -1 && errno == ESTALE);
	CHECK(!strcmp(failed_paths, "usurped/fifo "));
	MUST(run("rm -r usurped-to usurped/fifo; ln -s x usurped/link; touch -h -d 2011-02-03 "
		 "usurped/link"));
	CHECK(copy("usurped", "usurped-to", flags) == -1 && errno == ESTALE);
	usurper = NULL;
	CHECK_EQ(mode_of("victims/fifo"), 0600);
	CHECK(run("test $(stat -c %y victims/fifo | cut -c1-10) = 2001-02-03"));
}

static volatile sig_atomic_t leased_fd;

static void lease_end(int number)
{
	(void)number;
	fcntl(leased_fd, F_SETLEASE, F_UNLCK);
}

/* The copy waits until the holder of a lease has given it up, as cp does. */
static void test_copy_leased(void)
{
	int ready[2];
	pid_t child;
	char byte;

	dir_make("leased");
	file_make("leased/f", 10);
	MUST(!pipe(ready));
	child = fork();
	MUST(child >= 0);
	if (!child) {
		signal(SIGIO, lease_end);
		leased_fd = open("leased/f", O_RDWR);
		byte = fcntl(leased_fd, F_SETLEASE, F_WRLCK) ? 'n' : 'y';
		MUST(write(ready[1], &byte, 1) == 1);
		for (;;)
			pause();
	}
	MUST(read(ready[0], &byte, 1) == 1);
	if (byte == 'y')
		CHECK_EQ(copy("leased", "leased-to", 0), 0);
	else
		fprintf(stderr, "not tested: leases, which this file system does not have\n");
	kill(child, SIGKILL);
	MUST(waitpid(child, NULL, 0) == child);
	close(ready[0]);
	close(ready[1]);
	if (byte == 'y')
		CHECK(same("leased", "leased-to", false));
}

static void test_remove(void)
{
	struct cosy_remove_options options = {.size = sizeof(options), .flags = 4};
	int fds = fds_open();

	CHECK(cosy_remove_tree(AT_FDCWD, "to", &options) == -1 && errno == EINVAL);
	CHECK(removes("nothing", 0) == -1 && errno == ENOENT && !strcmp(failed_paths, "nothing "));
	CHECK(removes(".", 0) == -1 && errno == EINVAL);
	CHECK(removes("to/..", 0) == -1 && errno == EINVAL);
	CHECK(removes("/", 0) == -1 && errno == EINVAL);
	CHECK(removes("", 0) == -1 && errno == ENOENT);
	CHECK(removes("from/file", COSY_REMOVE_KEEP_FIRST) == -1 && errno == ENOTDIR);
	/* A link is removed, not what it leads to, with a slash as well. */
	MUST(!symlink("from", "link"));
	CHECK_EQ(removes("link/", 0), 0);
	CHECK(access("link", F_OK) == -1 && !access("from/file", F_OK));
	MUST(!symlink("../from", "to/dir/link"));
	CHECK_EQ(removes("to", COSY_REMOVE_KEEP_FIRST), 0);
	CHECK_EQ(rmdir("to"), 0);
	CHECK_EQ(removes("exact/", 0), 0);
	CHECK_EQ(access("exact", F_OK), -1);
	CHECK(!access("from/file", F_OK));
	file_make("one-file", 1);
	CHECK_EQ(removes("one-file", 0), 0);
	CHECK_EQ(access("one-file", F_OK), -1);
	CHECK_EQ(fds_open(), fds);
}

static void test_remove_denied(void)
{
	bool dropped = user_drop();

	dir_make("denied");
	dir_make("denied/empty");
	dir_make("denied/shut");
	dir_make("denied/open");
	file_make("denied/shut/f", 1);
	file_make("denied/open/f", 1);
	MUST(!chmod("denied/shut", 0555) && !chmod("denied/empty", 0));
	CHECK(removes("denied", 0) == -1 && errno == EACCES);
	/* The directories that are not empty by that are not reported. */
	CHECK(!strcmp(failed_paths, "denied/shut/f "));
	CHECK(access("denied/open", F_OK) == -1 && access("denied/empty", F_OK) == -1);
	failed_stops = true;
	dir_make("denied/open");
	CHECK(removes("denied", 0) == -1);
	failed_stops = false;
	MUST(!chmod("denied/shut", 0));
	CHECK(removes("denied", 0) == -1 && errno == EACCES);
	CHECK(!strcmp(failed_paths, "denied/shut "));
	/* Once, even if it could not be removed either because of the directory that it is in. */
	MUST(!chmod("denied", 0555));
	CHECK(removes("denied", 0) == -1 && errno == EACCES);
	CHECK(!strcmp(failed_paths, "denied/shut "));
	MUST(!chmod("denied", 0755));
	MUST(!chmod("denied/shut", 0755));
	CHECK_EQ(removes("denied", 0), 0);
	user_restore(dropped);
}

/* Returns how many directories of a tree, with the first one, have this mode. */
static int dirs_with_mode(const char *path, mode_t mode)
{
	struct cosy_walk_options options = {.size = sizeof(options), .flags = COSY_WALK_STAT};
	struct cosy_walk *walk = cosy_walk_open(AT_FDCWD, path, &options);
	const struct cosy_dir_entry *entry;
	int count = 0;

	MUST(walk);
	while (cosy_walk_next(walk, &entry) > 0)
		count += entry->type == DT_DIR && entry->stat &&
			 (entry->stat->st_mode & 07777) == mode;
	cosy_walk_close(walk);
	return count;
}

/* Levels whose descriptors were closed meanwhile have their attributes all the same. */
static void test_few_descriptors(void)
{
	char path[256] = "few";
	struct rlimit limit;

	dir_make(path);
	for (int i = 0; i < 40; i++)
		dir_make(strcat(path, "/dir"));
	umask(077);
	limit = fds_limit(6);
	CHECK_EQ(copy("few", "few-copy", COSY_COPY_MODE), 0);
	fds_restore(&limit);
	umask(022);
	CHECK_EQ(dirs_with_mode("few-copy", 0755), 41);
}

/* Thousands of levels, and thousands of files in one directory, with few descriptors. */
static void test_large(void)
{
	struct rlimit limit;
	int fd, below;
	char name[64];

	dir_make("deep");
	fd = open("deep", O_RDONLY);
	for (int i = 0; i < 800; i++) {
		MUST(!mkdirat(fd, "level", 0755));
		below = openat(fd, "level", O_RDONLY);
		MUST(below >= 0);
		close(fd);
		fd = below;
	}
	for (int i = 0; i < 600; i++) {
		sprintf(name, "%d", i);
		below = openat(fd, name, O_CREAT | O_WRONLY, 0644);
		MUST(below >= 0);
		close(below);
	}
	close(fd);
	limit = fds_limit(8);
	umask(077);
	CHECK_EQ(copy("deep", "deep-copy", COSY_COPY_MODE), 0);
	umask(022);
	fds_restore(&limit);
	CHECK_EQ(dirs_with_mode("deep-copy", 0755), 801);
	limit = fds_limit(3);
	CHECK_EQ(removes("deep", 0), 0);
	CHECK_EQ(removes("deep-copy", 0), 0);
	CHECK_EQ(access("deep", F_OK), -1);
	fds_restore(&limit);
}

static void test_mounts(void)
{
	dir_make("mounts");
	dir_make("mounts/fs");
	if (mount("tmpfs", "mounts/fs", "tmpfs", 0, NULL)) {
		fprintf(stderr, "not tested: mounts, which this process may not make\n");
		return;
	}
	file_make("mounts/fs/f", 1);
	CHECK_EQ(copy("mounts", "one-fs", COSY_COPY_ONE_FS), 0);
	CHECK(!access("one-fs/fs", F_OK) && access("one-fs/fs/f", F_OK));
	/* A directory that is not entered has its attributes. */
	MUST(!chmod("mounts/fs", 0551));
	MUST(run("touch -d 2001-02-03 mounts/fs"));
	CHECK_EQ(copy("mounts", "one-fs",
		      COSY_COPY_INTO | COSY_COPY_ONE_FS | COSY_COPY_MODE | COSY_COPY_TIMES),
		 0);
	CHECK_EQ(mode_of("one-fs/fs"), 0551);
	CHECK(run("test $(stat -c %Y mounts/fs) = $(stat -c %Y one-fs/fs)"));
	CHECK_EQ(copy("mounts", "one-fs-new", COSY_COPY_ONE_FS), 0);
	CHECK_EQ(mode_of("one-fs-new/fs"), 0551);
	CHECK(removes("mounts", COSY_REMOVE_ONE_FS) == -1 && errno == EXDEV);
	CHECK(!access("mounts/fs/f", F_OK));
	CHECK(removes("mounts", 0) == -1 && errno == EBUSY);
	CHECK_EQ(access("mounts/fs/f", F_OK), -1);
	MUST(!umount("mounts/fs"));
	/* A directory of the copy that is the source's own loses nothing. */
	MUST(run("mkdir -p bound/a bound/b bound-copy/a"));
	file_make("bound/a/f", 10);
	file_make("bound/b/f", 10);
	MUST(!mount("bound/a", "bound-copy/a", NULL, MS_BIND, NULL));
	CHECK(copy("bound", "bound-copy", COSY_COPY_INTO) == -1 && errno == EINVAL);
	CHECK(!strcmp(failed_paths, "bound/a "));
	CHECK(!access("bound/a/f", F_OK) && !access("bound-copy/b/f", F_OK));
	MUST(!umount("bound-copy/a"));
}

int main(void)
{
	tree_begin();
	source_make();
	test_copy();
	test_copy_errors();
	test_copy_merge();
	test_copy_usurped();
	test_copy_leased();
	test_remove();
	test_remove_denied();
	test_few_descriptors();
	test_large();
	test_mounts();
	tree_end();
	return check_result();
}
