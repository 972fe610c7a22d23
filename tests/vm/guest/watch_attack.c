// SPDX-License-Identifier: MIT
/*
 * watch_attack DIR: what an unprivileged process could try with a watcher: names of directories that
 * it may not list, answers under a filter or after a change of its rights, another process's words, a
 * directory that has left its mount, and arguments that change or make no sense.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "watch.h"

static int failures;
static struct answer answer;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("FAIL %s:%d: %s (%s)\n", __func__, __LINE__, #condition,            \
			       strerror(errno));                                                   \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

static int read_error(const struct watcher *watcher, int dirfd, const char *prefix,
		      const char *name)
{
	return watcher_read(watcher, dirfd, prefix, name, &answer) ? errno : 0;
}

/* Becomes an ordinary user, who may use the device. */
static void become_nobody(void)
{
	CHECK(!setgid(65534) && !setuid(65534));
}

static void directory_that_may_not_be_listed(void)
{
	struct watcher watcher;
	int fd;

	mkdir("hidden", 0711);
	close(open("hidden/secret", O_CREAT | O_WRONLY, 0644));
	fd = open("hidden", O_RDONLY);
	become_nobody();
	CHECK(!watcher_open(&watcher));
	CHECK(read_error(&watcher, AT_FDCWD, "hidden/", "secret") == EACCES);
	/* Someone who may list it has opened it. */
	CHECK(!read_error(&watcher, fd, NULL, "secret"));
	close(fd);
	fd = open("hidden", O_PATH);
	CHECK(read_error(&watcher, fd, NULL, "secret") == EOPNOTSUPP);
}

static void directory_that_may_not_be_searched(void)
{
	struct watcher watcher;

	mkdir("closed", 0744);
	close(open("closed/f", O_CREAT | O_WRONLY, 0644));
	become_nobody();
	CHECK(!watcher_open(&watcher));
	CHECK(read_error(&watcher, AT_FDCWD, "closed/", "f") == EACCES);
}

static void under_a_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };
	struct watcher watcher;

	CHECK(!watcher_open(&watcher));
	CHECK(!read_error(&watcher, AT_FDCWD, NULL, "f"));
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == EPERM);
}

static void after_a_change_of_rights(void)
{
	struct watcher watcher;

	CHECK(!watcher_open(&watcher));
	CHECK(!read_error(&watcher, AT_FDCWD, NULL, "f") && answer_holds(&watcher, &answer));
	CHECK(syscall(SYS_setfsuid, 1) == 0);
	CHECK(!answer_holds(&watcher, &answer));
	CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == ECANCELED);
}

static void of_another_process(void)
{
	struct watcher watcher;
	struct answer mine;
	pid_t child;
	int status;

	CHECK(!watcher_open(&watcher));
	CHECK(!watcher_read(&watcher, AT_FDCWD, NULL, "f", &mine) && answer_holds(&watcher, &mine));
	child = fork();
	if (!child) {
		CHECK(!answer_holds(&watcher, &mine));
		CHECK(watcher.words[COSY_WATCH_WAY] & COSY_WATCH_ENDED);
		CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == EXDEV);
		_exit(failures);
	}
	waitpid(child, &status, 0);
	CHECK(!status);
	/* A child with this memory changes its own directory. */
	child = vfork();
	if (!child) {
		if (chdir("/"))
			_exit(1);
		_exit(read_error(&watcher, AT_FDCWD, NULL, "f") != EXDEV);
	}
	waitpid(child, &status, 0);
	CHECK(!status);
	CHECK(!answer_holds(&watcher, &mine));
}

static void *unshare_table(void *watcher)
{
	CHECK(!unshare(CLONE_FILES));
	return (void *)(long)read_error(watcher, AT_FDCWD, NULL, "f");
}

static void of_several_threads(void)
{
	struct watcher watcher;
	pthread_t thread;
	void *error;

	CHECK(!watcher_open(&watcher));
	CHECK(!read_error(&watcher, AT_FDCWD, NULL, "f"));
	CHECK(!pthread_create(&thread, NULL, unshare_table, &watcher));
	pthread_join(thread, &error);
	CHECK(error == (void *)(long)EXDEV || error == (void *)(long)ECANCELED);
}

static void number_that_is_reused(void)
{
	struct watcher watcher;
	int fd = open(".", O_RDONLY);

	CHECK(!watcher_open(&watcher));
	CHECK(!read_error(&watcher, fd, NULL, "f") && answer_holds(&watcher, &answer));
	syscall(SYS_close, fd);
	CHECK(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY, 0) == fd);
	CHECK(!answer_holds(&watcher, &answer));
	CHECK(!read_error(&watcher, AT_FDCWD, NULL, "f"));
	syscall(SYS_close, fd);
	fd = open(".", O_RDONLY);
	CHECK(!read_error(&watcher, fd, NULL, "f") && answer_holds(&watcher, &answer));
	syscall(SYS_close, fd);
	CHECK(syscall(SYS_openat, AT_FDCWD, "/", O_PATH, 0) == fd);
	CHECK(!answer_holds(&watcher, &answer));
}

static void directory_that_left_its_mount(void)
{
	struct watcher watcher;

	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mkdir("R", 0755) && !mkdir("R/pwd", 0755) && !mkdir("R/pwd/e", 0755));
	CHECK(!mkdir("out", 0755) && !mkdir("M", 0755));
	close(open("R/pwd/e/c", O_CREAT | O_WRONLY, 0644));
	CHECK(!mount("R", "M", NULL, MS_BIND, NULL));
	CHECK(!chdir("M/pwd"));
	CHECK(!rename("../../R/pwd", "../../out/pwd") || true);
	CHECK(!watcher_open(&watcher));
	/* It comes back; what it says does not matter. */
	read_error(&watcher, AT_FDCWD, "e/", "c");
	CHECK(read_error(&watcher, AT_FDCWD, "e/../e/", "c") == EOPNOTSUPP);
}

static void not_opened_again(void)
{
	struct watcher watcher, other;

	CHECK(!watcher_open(&watcher));
	CHECK(watcher_open(&other) && errno == EBUSY);
}

static void senseless_arguments(void)
{
	struct watcher watcher;
	char page[8] = "f";
	struct cosy_watch_read good = { .size = sizeof(good),
					.dirfd = AT_FDCWD,
					.name = (unsigned long)page,
					.entries = (unsigned long)answer.bytes,
					.entries_size = sizeof(answer.bytes),
					.count = 4 };
	struct cosy_watch_read bad;

	CHECK(!watcher_open(&watcher));
#define BAD(change, error)                                                                         \
	do {                                                                                       \
		bad = good;                                                                        \
		change;                                                                            \
		CHECK(ioctl(watcher.fd, COSY_IOC_WATCH_READ, &bad) && errno == (error));           \
	} while (0)
	CHECK(!ioctl(watcher.fd, COSY_IOC_WATCH_READ, &good));
	BAD(bad.size = 0, EINVAL);
	BAD(bad.count = 0, EINVAL);
	BAD(bad.count = COSY_WATCH_COUNT + 1, EINVAL);
	BAD(bad.before = COSY_WATCH_COUNT, EINVAL);
	BAD(bad.name = 0, EFAULT);
	BAD(bad.prefix = 8, EFAULT);
	BAD(bad.entries = 8, EFAULT);
	BAD(bad.entries = -4096ul, EFAULT);
	BAD(bad.entries_size = 100, ENOENT);
	BAD(bad.dirfd = 999, EOPNOTSUPP);
	BAD(bad.dirfd = watcher.fd, EOPNOTSUPP);
	BAD(bad.dirfd = -5, EOPNOTSUPP);
	BAD(memcpy(page, "..", 3), EOPNOTSUPP);
	BAD(memcpy(page, "a/b", 4), EOPNOTSUPP);
	BAD(memcpy(page, "", 1), EOPNOTSUPP);
	BAD(memcpy(page, "no", 3), ENOENT);
	CHECK(ioctl(watcher.fd, COSY_IOC_WATCH, &bad) && errno == ENOTTY);
	CHECK(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, watcher.fd, 0) == MAP_FAILED);
	CHECK(mprotect((void *)watcher.words, 8192, PROT_READ | PROT_WRITE));
}

/* A stranger's changes and openings do not show in any word. */
static void others_are_not_seen(void)
{
	static __u64 before[COSY_WATCH_WORDS];
	struct watcher watcher;
	pid_t child;
	int tries = 0, changed;

	mkdir("private", 0700);
	close(open("private/f", O_CREAT | O_WRONLY, 0644));
	become_nobody();
	CHECK(!watcher_open(&watcher));
	/* No READ: no tick either. */
	do {
		memcpy(before, (const void *)watcher.words, sizeof(before));
		child = fork();
		if (!child) {
			for (int i = 0; i < 200; i++)
				close(open("f", O_RDONLY));
			_exit(0);
		}
		waitpid(child, NULL, 0);
		changed = memcmp(before, (const void *)watcher.words, sizeof(before));
	} while (changed && ++tries < 3);
	CHECK(!changed);
}

int main(int argc, char **argv)
{
	static void (*const tests[])(void) = {
		directory_that_may_not_be_listed,
		directory_that_may_not_be_searched,
		under_a_filter,
		after_a_change_of_rights,
		of_another_process,
		of_several_threads,
		number_that_is_reused,
		directory_that_left_its_mount,
		not_opened_again,
		senseless_arguments,
		others_are_not_seen,
	};
	struct watcher watcher;
	pid_t child;
	int status, failed = 0;

	if (argc < 2 || (mkdir(argv[1], 0755) && errno != EEXIST) || chdir(argv[1]) ||
	    chmod(".", 0755) || chmod("/dev/cosy", 0666))
		return 1;
	child = fork();
	if (!child)
		_exit(watcher_open(&watcher) ? (errno == EOPNOTSUPP ? 77 : 1) : 0);
	waitpid(child, &status, 0);
	if (status)
		return WEXITSTATUS(status);
	close(open("f", O_CREAT | O_WRONLY, 0644));
	sync();
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		child = fork();
		if (!child) {
			tests[i]();
			fflush(stdout);
			_exit(failures != 0);
		}
		waitpid(child, &status, 0);
		if (status)
			printf("test %zu: status %x\n", i, status);
		failed += status != 0;
	}
	printf("%d of %zu failed\n", failed, sizeof(tests) / sizeof(*tests));
	return failed != 0;
}
