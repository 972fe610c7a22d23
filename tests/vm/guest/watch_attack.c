// SPDX-License-Identifier: MIT
/*
 * watch_attack DIR: what an unprivileged process could try with a watcher: names of directories that
 * it may not list, answers under a filter or after a change of its rights, another process's words, a
 * directory that has left its mount, more registrations than the module can bear, and arguments that
 * change or make no sense.
 */
#define _GNU_SOURCE
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "watch.h"
#include "watch_checks.h"

static struct answer answer;

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
	CHECK(!answer_holds(&watcher, &answer));
	CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == ECANCELED);
	close(watcher.fd);
	munmap((void *)watcher.words, COSY_WATCH_WORDS * 8);
	CHECK(watcher_open(&watcher) && errno == EPERM);
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

static void make_file(const char *path)
{
	close(open(path, O_CREAT | O_WRONLY, 0644));
}

/* A READ may meet the tick, or a change.  False: it went on failing. */
static bool read_holds(const struct watcher *watcher, int dirfd, const char *prefix,
		       const char *name)
{
	for (int i = 0; i < 100; i++)
		if (!watcher_read(watcher, dirfd, prefix, name, &answer) &&
		    answer_holds(watcher, &answer))
			return true;
	return false;
}

static bool has_ended(const struct watcher *watcher)
{
	return watcher->words[COSY_WATCH_WAY] & COSY_WATCH_ENDED;
}

/* A process that keeps the rights and mounts of now, and runs `what` when it is told to. */
struct helper {
	int to, from;
};

static struct helper helper_begin(void (*what)(void))
{
	int there[2], back[2];
	char byte;

	CHECK(!pipe(there) && !pipe(back));
	if (!fork()) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1) {
			what();
			if (write(back[1], "x", 1) != 1)
				break;
		}
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	return (struct helper){ there[1], back[0] };
}

static void helper_run(const struct helper *helper)
{
	char byte;

	CHECK(write(helper->to, "x", 1) == 1 && read(helper->from, &byte, 1) == 1);
}

/*
 * More directories on the way than a watcher remembers: each that an answer depends on is still
 * among them.
 */
static void many_ways(void)
{
	char here[64], prefix[160], name[32];
	struct watcher watcher;
	int made = 0;

	CHECK(!mkdir("ways", 0755) && !chdir("ways") && getcwd(here, sizeof(here)));
	CHECK(!watcher_open(&watcher));
	for (int fillers = 20; fillers < 36; fillers++) {
		sprintf(name, "a%d", fillers);
		mkdir(name, 0755);
		sprintf(prefix, "%s/n", name);
		make_file(prefix);
		sprintf(prefix, "%s/d", name);
		mkdir(prefix, 0755);
		sprintf(prefix, "%s/d/e", name);
		mkdir(prefix, 0755);
		sprintf(prefix, "%s/d/e/f", name);
		make_file(prefix);
		for (int i = 0; i < fillers; i++) {
			sprintf(prefix, "b%d", made + i);
			mkdir(prefix, 0755);
			sprintf(prefix, "b%d/c", made + i);
			mkdir(prefix, 0755);
			sprintf(prefix, "b%d/c/n", made + i);
			make_file(prefix);
		}
		sync();
		sprintf(prefix, "a%d/x/", fillers);
		*strstr(prefix, "x/") = 0;
		CHECK(read_holds(&watcher, AT_FDCWD, prefix, "n"));
		sprintf(prefix, "a%d/d/e/", fillers);
		CHECK(read_holds(&watcher, AT_FDCWD, prefix, "f"));
		for (int i = 0; i < fillers; i++) {
			sprintf(prefix, "%s/b%d/c/", here, made + i);
			CHECK(read_holds(&watcher, AT_FDCWD, prefix, "n"));
		}
		made += fillers;
		sprintf(prefix, "a%d/d/e/", fillers);
		CHECK(read_holds(&watcher, AT_FDCWD, prefix, "f"));
		sprintf(prefix, "a%d/d", fillers);
		CHECK(!chmod(prefix, 0700));
		CHECK(!answer_holds(&watcher, &answer));
	}
}

static void hide_names(void)
{
	CHECK(!chmod("listed", 0711));
	make_file("listed/secret");
}

static void directory_that_became_hidden(void)
{
	struct helper helper;
	struct watcher watcher;

	CHECK(!mkdir("listed", 0755));
	make_file("listed/known");
	sync();
	helper = helper_begin(hide_names);
	become_nobody();
	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, "listed/", "known"));
	helper_run(&helper);
	CHECK(read_error(&watcher, AT_FDCWD, "listed/", "known") == EACCES);
}

/* However often an inode is asked for, its watcher has one word of it. */
static void one_word_for_an_inode(void)
{
	struct watcher watcher;
	__u32 word, dir_word;

	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	word = answer.entry->word;
	dir_word = answer.read.dir_word;
	for (int i = 0; i < 1500; i++) {
		if (watcher_read(&watcher, AT_FDCWD, NULL, "f", &answer))
			continue;
		CHECK(answer.entry && answer.entry->word == word);
		CHECK(answer.read.dir_word == dir_word);
		if (failures)
			break;
	}
}

/*
 * What many processes can make a change of one inode cost is bounded, and the most that one user's
 * can have of that leaves room for others.
 */
static void many_watchers_of_an_inode(void)
{
	enum { PROCESSES = 100, SHARE = 8 };
	struct watcher other;
	int ready[2], go[2], done[2], hold = 0, status;
	char byte;

	CHECK(!pipe(ready) && !pipe(go) && !pipe(done));
	for (int i = 0; i < PROCESSES; i++) {
		struct watcher watcher = { .fd = -1 };

		if (fork())
			continue;
		close(go[1]);
		close(done[1]);
		become_nobody();
		status = watcher_open(&watcher) || write(ready[1], "x", 1) != 1 ||
			 read(go[0], &byte, 1) != 0;
		if (!status)
			watcher_read(&watcher, AT_FDCWD, NULL, "f", &answer);
		/* All have made their READ.  An answer that holds now has held since then. */
		close(ready[1]);
		while (read(ready[0], &byte, 1) > 0)
			;
		status = !status && answer.read.used && answer_holds(&watcher, &answer);
		/* Its slots stay until another user has made a READ. */
		while (read(done[0], &byte, 1) > 0)
			;
		_exit(status);
	}
	for (int i = 0; i < PROCESSES; i++)
		CHECK(read(ready[0], &byte, 1) == 1);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
	/* Until all have made their READ. */
	CHECK(read(ready[0], &byte, 1) == 0);
	CHECK(!watcher_open(&other));
	CHECK(read_holds(&other, AT_FDCWD, NULL, "f"));
	close(done[0]);
	close(done[1]);
	for (int i = 0; i < PROCESSES; i++) {
		wait(&status);
		hold += WEXITSTATUS(status);
	}
	if (hold > SHARE)
		printf("%d watchers are told of one inode\n", hold);
	CHECK(hold <= SHARE);
}

static void *filter_thread(void *way)
{
	struct sock_filter allow = BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	/* The kernel does not look at the upper half of a number that has 32 bits. */
	if (way)
		CHECK(!syscall(SYS_seccomp,
			       SECCOMP_SET_MODE_FILTER | (way == (void *)2 ? 1ul << 32 : 0), 0,
			       &program));
	else
		CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	return NULL;
}

static void filter_of_another_thread(void)
{
	for (long way = 0; way < 3; way++) {
		int status;

		if (!fork()) {
			struct watcher watcher;
			pthread_t thread;

			CHECK(!watcher_open(&watcher));
			CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
			pthread_create(&thread, NULL, filter_thread, (void *)way);
			pthread_join(thread, NULL);
			CHECK(!answer_holds(&watcher, &answer));
			CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == ECANCELED);
			fflush(stdout);
			_exit(failures != 0);
		}
		wait(&status);
		CHECK(!status);
	}
}

/* A thread that waits for a byte; `number` is its own. */
struct waiting {
	int number, fd;
	bool dispatches;
};

static void *wait_for_byte(void *argument)
{
	static volatile char selector; /* SYSCALL_DISPATCH_FILTER_ALLOW */
	struct waiting *waiting = argument;
	char byte;

	if (waiting->dispatches)
		CHECK(!prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector));
	__atomic_store_n(&waiting->number, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (read(waiting->fd, &byte, 1) < 0 && errno == EINTR)
		;
	return NULL;
}

static void waiting_begin(struct waiting *waiting, int ends[2])
{
	pthread_t thread;

	CHECK(!pipe(ends));
	waiting->fd = ends[0];
	CHECK(!pthread_create(&thread, NULL, wait_for_byte, waiting));
	while (!__atomic_load_n(&waiting->number, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Programs dispatch the calls of one thread to themselves. */
static void dispatcher_of_another_thread(void)
{
	struct waiting waiting = { .dispatches = true };
	struct watcher watcher;
	int ends[2];

	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	waiting_begin(&waiting, ends);
	CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == EPERM);
}

static struct waiting *traced;

static void trace_calls(void)
{
	int status;

	CHECK(!ptrace(PTRACE_SEIZE, traced->number, 0, 0));
	CHECK(!ptrace(PTRACE_INTERRUPT, traced->number, 0, 0));
	CHECK(waitpid(traced->number, &status, __WALL) == traced->number);
	CHECK(!ptrace(PTRACE_SYSCALL, traced->number, 0, 0));
	fflush(stdout);
}

static void tracer_of_another_thread(void)
{
	struct watcher watcher;
	struct helper helper;
	int ends[2];

	traced = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	helper = helper_begin(trace_calls);
	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	waiting_begin(traced, ends);
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	helper_run(&helper);
	CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == EPERM);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* Owners have other numbers from then on. */
static void map_that_is_written_later(void)
{
	struct watcher watcher;
	struct stat is;
	bool opened;

	CHECK(!unshare(CLONE_NEWUSER));
	opened = !watcher_open(&watcher);
	if (opened)
		read_holds(&watcher, AT_FDCWD, NULL, "f");
	else
		CHECK(errno == EAGAIN);
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", "0 0 1");
	write_text("/proc/self/gid_map", "0 0 1");
	CHECK(!stat_ask(AT_FDCWD, "f", &is) && !is.st_uid);
	CHECK(!opened || !answer_holds(&watcher, &answer) || stat_is(&is, answer.entry->stat));
	CHECK(opened || !watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f") && stat_is(&is, answer.entry->stat));
}

static int child_of_clone(void *unused)
{
	(void)unused;
	return 0;
}

/* Others have this process's memory, directory or descriptors, without being its threads. */
static void children_that_share(void)
{
	static const struct {
		int flags;
		bool ends;
	} kinds[] = {
		{ CLONE_FS, true },
		{ CLONE_FILES, true },
		{ CLONE_VM, true },
		{ CLONE_VM | CLONE_FS | CLONE_FILES, true },
		{ CLONE_VM | CLONE_VFORK | CLONE_FS, true },
		{ CLONE_VM | CLONE_VFORK | CLONE_NEWNS, true },
		{ CLONE_VM | CLONE_VFORK, false },
		{ 0, false },
	};
	static char stack[65536] __attribute__((aligned(16)));
	int status;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!fork()) {
			struct watcher watcher;

			CHECK(!watcher_open(&watcher));
			CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
			CHECK(clone(child_of_clone, stack + sizeof(stack), kinds[i].flags | SIGCHLD,
				    NULL) > 0);
			wait(NULL);
			CHECK(has_ended(&watcher) == kinds[i].ends);
			if (failures)
				printf("flags %x\n", kinds[i].flags);
			fflush(stdout);
			_exit(failures != 0);
		}
		wait(&status);
		CHECK(!status);
	}
}

static int thread_of_a_child(void *ready)
{
	*(volatile int *)ready = 1;
	pause();
	return 0;
}

/* Leaves a thread to itself that has the watcher's memory. */
static int child_with_a_thread(void *stack)
{
	static volatile int ready;
	int flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	if (clone(thread_of_a_child, stack, flags, (void *)&ready) < 0)
		return 1;
	while (!ready)
		;
	/* The thread alone: the process lasts as long as the other one. */
	syscall(SYS_exit, 0);
	return 1;
}

static void child_of_vfork_with_a_thread(void)
{
	static char stacks[2][65536] __attribute__((aligned(16)));
	struct watcher watcher = { .fd = -1 };
	pid_t child;

	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	child = clone(child_with_a_thread, stacks[0] + sizeof(stacks[0]),
		      CLONE_VM | CLONE_VFORK | SIGCHLD, stacks[1] + sizeof(stacks[1]));
	CHECK(child > 0);
	CHECK(has_ended(&watcher));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void move_mount_point(void)
{
	CHECK(!rename("point", "point2"));
}

/* A directory on which this namespace alone has a mount is moved in another one. */
static void mount_point_that_moves(void)
{
	struct helper helper;
	struct watcher watcher;
	char prefix[96];

	CHECK(!mkdir("point", 0755));
	helper = helper_begin(move_mount_point);
	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mount("t", "point", "tmpfs", 0, NULL));
	make_file("point/f");
	CHECK(getcwd(prefix, sizeof(prefix) - 8));
	strcat(prefix, "/point/");
	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, prefix, "f"));
	helper_run(&helper);
	CHECK(access("point/f", F_OK) && errno == ENOENT);
	CHECK(!answer_holds(&watcher, &answer));
}

/* A file of /proc stands for the one whose queue tells of mounts. */
static void foreign_mountinfo(void)
{
	struct watcher watcher;

	CHECK(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	CHECK(!mount("/proc/self/mounts", "/proc/thread-self/mountinfo", NULL, MS_BIND, NULL));
	CHECK(watcher_open(&watcher) && errno == EOPNOTSUPP);
}

static void *unshare_by_close_range(void *unused)
{
	(void)unused;
	CHECK(!syscall(SYS_close_range, 500, 600, CLOSE_RANGE_UNSHARE));
	return NULL;
}

static void table_of_another_thread(void)
{
	struct watcher watcher;
	pthread_t thread;
	int fd = open(".", O_RDONLY);

	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, fd, NULL, "f"));
	CHECK(!pthread_create(&thread, NULL, unshare_by_close_range, NULL));
	pthread_join(thread, NULL);
	CHECK(!answer_holds(&watcher, &answer));
}

/* A READ is no event of the directory's: whoever watches that would feed itself. */
static void no_event_of_a_read(void)
{
	struct watcher watcher;
	char event[512];
	int fd = inotify_init1(IN_NONBLOCK);

	CHECK(!mkdir("events", 0755));
	make_file("events/f");
	CHECK(!watcher_open(&watcher));
	CHECK(inotify_add_watch(fd, "events", IN_ALL_EVENTS) >= 0);
	CHECK(read_holds(&watcher, AT_FDCWD, "events/", "f"));
	CHECK(read(fd, event, sizeof(event)) < 0 && errno == EAGAIN);
}

/* A listener that may deny opens and reads keeps READs away: they do not ask it. */
static void listener_that_may_deny(void)
{
	struct watcher watcher;
	int fd, listener = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);

	CHECK(listener >= 0 && !mkdir("listened", 0755));
	make_file("listened/f");
	fd = open("listened", O_RDONLY | O_DIRECTORY);
	CHECK(!watcher_open(&watcher));
	CHECK(!read_error(&watcher, AT_FDCWD, "listened/", "f"));
	CHECK(!fanotify_mark(listener, FAN_MARK_ADD, FAN_OPEN_PERM | FAN_ACCESS_PERM | FAN_ONDIR,
			     AT_FDCWD, "listened"));
	CHECK(read_error(&watcher, AT_FDCWD, "listened/", "f") == EOPNOTSUPP);
	CHECK(read_error(&watcher, fd, NULL, "f") == EOPNOTSUPP);
	close(listener);
	CHECK(!read_error(&watcher, AT_FDCWD, "listened/", "f"));
}

/* Waits until no tick comes any more. */
static void ticks_wait(const struct watcher *watcher)
{
	__u64 way;

	do {
		way = watcher->words[COSY_WATCH_WAY];
		usleep(2500000);
	} while (way != watcher->words[COSY_WATCH_WAY]);
}

/* A READ that the tick overtakes registers inodes that become silent as well. */
static void silence_after_a_tick(void)
{
	static __u64 before[COSY_WATCH_WORDS];
	struct watcher watcher;

	CHECK(!watcher_open(&watcher));
	for (int tries = 0; tries < 3; tries++) {
		int reads = 0;

		do
			watcher_read(&watcher, AT_FDCWD, NULL, "f", &answer);
		while (++reads < 1000000 && watcher.words[COSY_WATCH_WAY] == answer.read.way);
		ticks_wait(&watcher);
		memcpy(before, (const void *)watcher.words, sizeof(before));
		close(open("f", O_RDONLY));
		CHECK(!memcmp(before, (const void *)watcher.words, sizeof(before)));
	}
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
		many_ways,
		directory_that_became_hidden,
		one_word_for_an_inode,
		many_watchers_of_an_inode,
		filter_of_another_thread,
		dispatcher_of_another_thread,
		tracer_of_another_thread,
		map_that_is_written_later,
		children_that_share,
		child_of_vfork_with_a_thread,
		mount_point_that_moves,
		foreign_mountinfo,
		table_of_another_thread,
		no_event_of_a_read,
		listener_that_may_deny,
		silence_after_a_tick,
	};
	struct watcher watcher;
	pid_t child;
	int status;

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
	return tests_run(tests, sizeof(tests) / sizeof(*tests));
}
