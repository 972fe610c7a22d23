/* SPDX-License-Identifier: MIT */
/*
 * Opens and closes files and directories in regions: descriptors, flags, errors and their order, and what others
 * are told, are those of the calls themselves.
 */
#include "change.h"
#include "guards.h"
#include <linux/fs.h>
#include <pthread.h>
#include <sys/fanotify.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define TIMES 3

/* --- Every name and flag ------------------------------------------------------------------- */

/* All that a program finds out of a descriptor that it got. */
struct opened {
	long number[2];
	long flags, on_exec, position;
	ino_t ino;
};

/* Opens twice in a row, and closes both. */
static inline __attribute__((always_inline)) void open_and_close(int dirfd, const char *name,
								 int flags, struct opened *ret)
{
	struct stat st = { 0 };

	ret->number[0] = result_of(syscall(SYS_openat, dirfd, name, flags, 0777));
	ret->number[1] =
		result_of(dirfd == AT_FDCWD ? syscall(SYS_open, name, flags, 0777)
					    : syscall(SYS_openat, dirfd, name, flags, 0777));
	ret->flags = fcntl((int)ret->number[0], F_GETFL);
	ret->on_exec = fcntl((int)ret->number[0], F_GETFD);
	ret->position = lseek((int)ret->number[0], 0, SEEK_CUR);
	fstat((int)ret->number[0], &st);
	ret->ino = st.st_ino;
	if (ret->number[1] >= 0)
		ret->number[1] += 1000 * syscall(SYS_close, (int)ret->number[1]);
	if (ret->number[0] >= 0)
		ret->number[0] += 1000 * syscall(SYS_close, (int)ret->number[0]);
}

static void same_open(int dirfd, const char *name, int flags)
{
	struct opened got[TIMES] = { 0 }, want = { 0 };

	COSY_START;
	for (int i = 0; i < TIMES; i++)
		open_and_close(dirfd, name, flags, &got[i]);
	COSY_END;
	open_and_close(dirfd, name, flags, &want);
	for (int i = 0; i < TIMES; i++)
		CHECK(!memcmp(&got[i], &want, sizeof(want)),
		      "open(%d, \"%s\", %#o), %d: %ld, %ld, flags %#lo, not %ld, %ld, %#lo", dirfd,
		      name, flags, i, got[i].number[0], got[i].number[1], got[i].flags,
		      want.number[0], want.number[1], want.flags);
}

static const char *const names[] = { "file",	 "runs",      "secret",
				     "readable", "writable",  "appends",
				     "d",	 "closed",    "d/file",
				     "./file",	 "none",      "",
				     ".",	 "none/x",    "file/x",
				     "to-file",	 "to-d/x",    "dangling",
				     "loop",	 "closed/in", "d/",
				     "file/",	 "/dev/null", "fixed/f",
				     "running",	 "d/../file", "/proc/self/status" };

static void all_names(void)
{
	static const int flags[] = { O_RDONLY,
				     O_WRONLY,
				     O_RDWR,
				     3,
				     O_RDONLY | O_CLOEXEC,
				     O_RDWR | O_APPEND,
				     O_WRONLY | O_APPEND,
				     O_RDONLY | O_NOFOLLOW,
				     O_RDONLY | O_DIRECTORY,
				     O_WRONLY | O_DIRECTORY,
				     O_RDONLY | O_APPEND,
				     O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				     O_RDONLY | O_NONBLOCK | O_NOCTTY,
				     O_RDWR | O_LARGEFILE,
				     O_RDONLY | O_NOATIME,
				     O_PATH,
				     O_RDWR | O_SYNC,
				     O_RDONLY | O_DIRECT,
				     O_RDONLY | 0x40000000 };
	int fds[] = { AT_FDCWD, open(".", O_RDONLY | O_DIRECTORY), open(".", O_PATH), -1 };

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); f++)
			for (size_t d = 0; d < (f < 3 ? 4 : 2); d++)
				same_open(fds[d], names[n], flags[f]);
	same_open(AT_FDCWD, NULL, O_RDONLY);
	close(fds[1]);
	close(fds[2]);
}

static void all_users(void)
{
	all_names();
	setfsuid(65534);
	all_names();
	setfsuid(0);
}

/* --- Limits ---------------------------------------------------------------------------------- */

static void file_max_set(const char *text)
{
	int fd = open("/proc/sys/fs/file-max", O_WRONLY);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
}

/* A thread that may have no more descriptors is told so, whatever the name leads to. */
static void no_more_descriptors(void)
{
	const struct timespec times[] = { { 1000, 0 }, { 2000, 0 } };
	struct rlimit old, none;
	struct stat st;
	int next = dup(0);

	MUST(!utimensat(AT_FDCWD, "to-file", times, AT_SYMLINK_NOFOLLOW));
	MUST(next >= 0 && !close(next) && !getrlimit(RLIMIT_NOFILE, &old));
	none = old;
	none.rlim_cur = (rlim_t)next;
	setfsuid(65534);
	MUST(!setrlimit(RLIMIT_NOFILE, &none));
	same_open(AT_FDCWD, "file", O_RDONLY);
	same_open(AT_FDCWD, "none", O_RDONLY);
	same_open(AT_FDCWD, "secret", O_RDONLY);
	same_open(AT_FDCWD, "closed/in", O_RDONLY);
	same_open(AT_FDCWD, "to-file", O_RDONLY);
	MUST(!setrlimit(RLIMIT_NOFILE, &old));
	setfsuid(0);
	MUST(!lstat("to-file", &st));
	CHECK(st.st_atime == 1000, "followed a link, with no descriptor left");
}

/* Does the same for the files of the whole system. */
static void no_more_files(void *unused)
{
	_Atomic int *step = unused;
	long warm = 0;

	/* Processors add to the count of all files by tens, which is what the limit looks at. */
	for (int i = 0; i < 256; i++)
		MUST(open("file", O_RDONLY) >= 0);

	COSY_START;
	for (int i = 0; i < 8; i++) {
		long fd = open("file", O_RDONLY);

		warm += fd < 0 || close((int)fd);
	}
	COSY_END;
	CHECK(!warm, "%ld", warm);
	become_nobody(true);
	*step = 1;
	WAIT_FOR(0, *step == 2);
	CHECK(open("file", O_RDONLY) < 0 && errno == ENFILE, "there is no limit");
	same_open(AT_FDCWD, "file", O_RDONLY);
	same_open(AT_FDCWD, "none", O_RDONLY);
	same_open(AT_FDCWD, "secret", O_RDONLY);
	*step = 3;
}

static void limits(void)
{
	_Atomic int *step = shared_memory(4096);
	char old[32] = "";
	int fd = open("/proc/sys/fs/file-max", O_RDONLY);
	pid_t pid;

	MUST(fd >= 0 && read(fd, old, sizeof(old) - 1) > 0 && !close(fd));
	no_more_descriptors();
	file_max_set("9223372036854775807");
	no_more_descriptors();
	all_users();
	file_max_set(old);
	pid = child_start();
	if (!pid) {
		no_more_files(step);
		_exit(check_end());
	}
	WAIT_FOR(pid, *step == 1);
	file_max_set("1");
	*step = 2;
	WAIT_FOR(pid, *step == 3);
	file_max_set(old);
	MUST(waitpid(pid, &fd, 0) == pid);
	CHECK_CHILD(fd);
}

/* --- What others are told -------------------------------------------------------------------- */

enum { OPENS = 40 };

static int opens_in_region(const char *name, int flags, int error)
{
	int as_expected = 0;

	COSY_START;
	for (int i = 0; i < OPENS; i++) {
		long fd = result_of(open(name, flags));

		if (fd >= 0)
			as_expected += !close((int)fd) && !error;
		else
			as_expected += fd == -error;
	}
	COSY_END;
	return as_expected;
}

static void told_by_inotify(const char *name, int flags, uint32_t closing)
{
	const uint32_t kind = flags & O_DIRECTORY ? IN_ISDIR : 0;
	int group = inotify_init1(IN_NONBLOCK), opened = 0, closed = 0, other = 0;
	char events[4096] __attribute__((aligned(8)));
	struct cosy_stats before = counts();
	ssize_t size;

	MUST(group >= 0 && inotify_add_watch(group, name, IN_ALL_EVENTS) >= 0);
	CHECK(opens_in_region(name, flags, 0) == OPENS, "opens failed");
	CHECK_FAST(before, 2 * OPENS - 8);
	while ((size = read(group, events, sizeof(events))) > 0)
		for (ssize_t at = 0; at < size;) {
			struct inotify_event *event = (void *)(events + at);

			opened += event->mask == (IN_OPEN | kind);
			closed += event->mask == (closing | kind);
			other += (event->mask & ~kind) != IN_OPEN &&
				 (event->mask & ~kind) != closing;
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	CHECK(opened == OPENS && closed == OPENS && !other, "%d opened, %d closed, %d others",
	      opened, closed, other);
	close(group);
}

/* Shared with the process that decides. */
struct listener {
	_Atomic bool denies;
	_Atomic int asked;
};

static void listen_without_end(struct listener *listener, int group)
{
	for (;;) {
		char events[4096] __attribute__((aligned(8)));
		ssize_t size = read(group, events, sizeof(events));
		struct fanotify_event_metadata *event = (void *)events;

		for (; FAN_EVENT_OK(event, size); event = FAN_EVENT_NEXT(event, size)) {
			struct fanotify_response answer = {
				.fd = event->fd,
				.response = listener->denies ? FAN_DENY : FAN_ALLOW,
			};

			listener->asked++;
			MUST(write(group, &answer, sizeof(answer)) == sizeof(answer));
			close(event->fd);
		}
	}
}

static void denied_by_listener(const char *name, int flags, uint64_t events)
{
	struct listener *listener = shared_memory(4096);
	int group = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY), failed;
	pid_t pid;

	if (group < 0) {
		printf("SKIP: no fanotify: %s\n", strerror(errno));
		return;
	}
	pid = child_start();
	if (!pid)
		listen_without_end(listener, group);
	MUST(!fanotify_mark(group, FAN_MARK_ADD, events, AT_FDCWD, name));
	CHECK(opens_in_region(name, flags, 0) == OPENS, "denied");
	CHECK(listener->asked == OPENS, "asked %d times", listener->asked);
	listener->denies = true;
	failed = opens_in_region(name, flags, EPERM);
	CHECK(failed == OPENS, "%d denied", failed);
	CHECK(listener->asked == 2 * OPENS, "asked %d times", listener->asked);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(group);
}

static _Atomic int *lease_broken;
static int leased;

static void lease_end(int sig)
{
	(void)sig;
	++*lease_broken;
	fcntl(leased, F_SETLEASE, F_UNLCK);
}

static void lease_hold(_Atomic int *state)
{
	lease_broken = state + 1;
	handle(SIGIO, lease_end, SA_RESTART);
	leased = open("leased", O_RDONLY);
	MUST(leased >= 0 && !fcntl(leased, F_SETLEASE, F_RDLCK));
	*state = 1;
	for (;;)
		pause();
}

/* An open to write waits until the holder of a lease has given it up, or does not wait at all. */
static void waits_for_leases(void)
{
	_Atomic int *state = shared_memory(4096);
	long waited = -1, at_once = 0, reads = -1;
	pid_t pid = child_start();

	if (!pid)
		lease_hold(state);
	WAIT_FOR(pid, *state == 1);
	COSY_START;
	for (int i = 0; i < 4; i++) {
		reads = result_of(open("leased", O_RDONLY));
		if (reads >= 0)
			close((int)reads);
	}
	at_once = result_of(open("leased", O_WRONLY | O_NONBLOCK));
	waited = result_of(open("leased", O_WRONLY));
	COSY_END;
	CHECK(reads >= 0 && at_once == -EWOULDBLOCK && waited >= 0 && state[1] == 1,
	      "reading %ld, at once %ld, waiting %ld, broken %d", reads, at_once, waited, state[1]);
	close((int)waited);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void file_make(const char *name, mode_t mode, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	MUST(!fchmod(fd, mode) && !close(fd));
}

/* --- Names and descriptors that change their meaning ------------------------------------------- */

static void exchange_names(unsigned int turn)
{
	(void)turn;
	if (syscall(SYS_renameat2, AT_FDCWD, "d/one", AT_FDCWD, "d/two", 2))
		_exit(1);
}

static void file_close(unsigned int turn)
{
	if (chmod("d/one", turn % 2 ? 0 : 0444))
		_exit(1);
}

/* Opens and returns the size, or the error. */
static inline __attribute__((always_inline)) long size_by_open(const char *name)
{
	struct stat st = { .st_size = 0 };
	long fd = result_of(open(name, O_RDONLY));

	if (fd < 0)
		return fd;
	fstat((int)fd, &st);
	return close((int)fd) ? -EBADF : st.st_size;
}

/* Checks that a process that has seen that a change is done opens the other file. */
static void follow(const char *what, void (*make)(unsigned int), long odd, long even)
{
	struct cosy_stats before = counts();
	unsigned long late = 0, followed = 0;
	pid_t pid;

	pid = changes_start(make);
	setfsuid(65534);
	for (unsigned int turn = 1; turn <= 20; turn++) {
		unsigned int done = 0;
		long got = 0;

		COSY_START;
		for (int i = 0; i < 4; i++)
			got = size_by_open("d/one");
		change->asked = turn;
		for (long i = 0; i < 2000000 && !done; i++) {
			done = change->done == turn;
			got = size_by_open("d/one");
		}
		COSY_END;
		followed += done;
		late += done && got != (turn % 2 ? odd : even);
	}
	setfsuid(0);
	changes_stop(pid);
	CHECK(followed == 20 && !late, "%s: %lu followed, %lu late", what, followed, late);
	CHECK_FAST(before, 100);
}

static void following(void)
{
	change = shared_memory(4096);
	follow("names exchanged", exchange_names, 2, 1);
	follow("permission", file_close, -EACCES, 1);
	MUST(!munmap(change, 4096));
}

/* Closes directories and files on which calls before relied, and uses their numbers again. */
static void numbers_again(void)
{
	char byte[2][8] = { { 0 } };
	struct stat st[4] = { { 0 } };
	long closed = 0, twice = 0, gone = 0, at_once = 0, r = 0;
	int one, two;

	MUST(!mkdir("left", 0700) && !mount("none", "left", "tmpfs", 0, NULL));
	MUST(!mkdir("left/d", 0700) && !close(open("left/d/one", O_CREAT | O_WRONLY, 0600)));
	COSY_START;
	one = open("left/d", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 8; i++) {
		int fd = openat(one, "one", O_RDONLY);

		r += fstatat(one, "one", &st[0], 0);
		r += close(fd);
	}
	closed += close(one);
	at_once = result_of(openat(one, "one", O_RDONLY));
	at_once += result_of(fstatat(one, "one", &st[3], 0));
	gone = umount2("left", 0);
	two = open("d", O_RDONLY | O_DIRECTORY);
	r += fstatat(two, "one", &st[1], 0);
	r += fstatat(two, "one", &st[2], 0);
	closed += close(two);
	twice = result_of(fstatat(two, "one", &st[3], 0));
	/* The same number for two files that are read. */
	for (int i = 0; i < 4; i++) {
		one = open(i % 2 ? "d/two" : "d/one", O_RDONLY);
		r += read(one, byte[i % 2], 1) < 0;
		r += pread(one, byte[i % 2] + 1, 1, 0) < 0;
		closed += close(one);
	}
	twice += 100 * result_of(close(one));
	COSY_END;
	CHECK(!r && !closed && !gone && one == two, "calls %ld, close %ld, umount %ld, %d, %d", r,
	      closed, gone, one, two);
	CHECK(st[0].st_size == 0 && st[1].st_size == 1 && st[2].st_size == 1, "sizes %lld, %lld",
	      (long long)st[0].st_size, (long long)st[1].st_size);
	CHECK(twice == -101 * EBADF && at_once == -2 * EBADF, "%ld, %ld", twice, at_once);
	CHECK(byte[0][0] == '1' && byte[0][1] == '1' && byte[1][0] == '2' && byte[1][1] == '2',
	      "'%.2s', '%.2s'", byte[0], byte[1]);
	MUST(!rmdir("left"));
}

/* Uses names that are remembered by way of a directory. */
static inline __attribute__((always_inline)) long names_use(int dir, int way)
{
	struct stat st;

	switch (way) {
	case 0:
		return fstatat(dir, "one", &st, 0);
	case 1:
		return fstatat(dir, "in/one", &st, 0);
	default:
		return faccessat(dir, "in", R_OK, 0);
	}
}

/*
 * Closes a directory by which names were found, and opens another one by its number, where they are
 * not.  Nothing in between is an ordinary call.
 */
static void directory_again(int way)
{
	long r = 0, gone = 0, other = 0;
	int dir, again;

	MUST(!mkdir("left", 0700) && !mkdir("left/in", 0700) && !mkdir("right", 0700));
	file_make("left/one", 0600, "");
	file_make("left/in/one", 0600, "");
	COSY_START;
	dir = open("left", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 8; i++)
		r += names_use(dir, way);
	r += close(dir);
	gone = result_of(names_use(dir, way));
	dir = open("left", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 8; i++)
		r += names_use(dir, way);
	r += close(dir);
	again = open("right", O_RDONLY | O_DIRECTORY);
	other = result_of(names_use(again, way));
	r += close(again);
	COSY_END;
	CHECK(!r && dir == again && gone == -EBADF && other == -ENOENT,
	      "way %d: %ld, %d and %d, closed %ld, other %ld", way, r, dir, again, gone, other);
	MUST(!unlink("left/in/one") && !unlink("left/one") && !rmdir("left/in") && !rmdir("left") &&
	     !rmdir("right"));
}

/* Another thread's descriptors are in the same table. */
static void *opens_of_thread(void *wrong)
{
	const char *name = *(long *)wrong ? "d/two" : "d/one";
	long size = *(long *)wrong + 1, bad = 0;

	COSY_START;
	for (int i = 0; i < 2000; i++)
		bad += size_by_open(name) != size;
	COSY_END;
	*(long *)wrong = bad;
	return NULL;
}

static void threads(void)
{
	long wrong[2] = { 0, 1 };
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, opens_of_thread, &wrong[1]));
	opens_of_thread(&wrong[0]);
	MUST(!pthread_join(thread, NULL));
	CHECK(!wrong[0] && !wrong[1], "%ld, %ld", wrong[0], wrong[1]);
}

static _Atomic long shared_number;
static _Atomic bool number_is_other;

/* Puts another file in the place of the descriptor that it is told. */
static void *number_replace(void *unused)
{
	int other = open("d/two", O_RDONLY);

	(void)unused;
	while (shared_number < 0)
		sched_yield();
	MUST(other >= 0 && dup2(other, (int)shared_number) >= 0 && !close(other));
	number_is_other = true;
	return NULL;
}

/* Reads by a number that another thread has replaced since the region opened it. */
static void replaced_by_thread(void)
{
	pthread_t thread;
	char byte = 0;
	long r = 0;
	int fd;

	shared_number = -1;
	MUST(!pthread_create(&thread, NULL, number_replace, NULL));
	COSY_START;
	fd = open("d/one", O_RDONLY);
	r += pread(fd, &byte, 1, 0);
	r += close(fd);
	fd = open("d/one", O_RDONLY);
	shared_number = fd;
	for (long i = 0; i < 2000000000 && !number_is_other; i++)
		r += getppid() < 0;
	r += pread(fd, &byte, 1, 0);
	COSY_END;
	MUST(!pthread_join(thread, NULL));
	CHECK(number_is_other && byte == '2' && r == 2, "'%c', %ld", byte, r);
	close(fd);
}

/* --- What is specialised ---------------------------------------------------------------------- */

static void specialised(void)
{
	struct cosy_stats before = counts();
	static char bytes[4096];
	long read_bytes = 0, failed = 0;
	char name[8];
	int dir;

	MUST(!mkdir("many", 0755));
	dir = open("many", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%03d", i);
		int fd = openat(dir, name, O_CREAT | O_WRONLY, 0700);
		MUST(write(fd, name, 3) == 3 && !close(fd));
	}
	COSY_START;
	for (int i = 0; i < 200; i++) {
		struct stat st;
		int fd;

		name[0] = '0' + i / 100;
		name[1] = '0' + i / 10 % 10;
		name[2] = '0' + i % 10;
		name[3] = 0;
		fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
		failed += fstat(fd, &st);
		read_bytes += read(fd, bytes, sizeof(bytes));
		failed += close(fd);
		fd = open("d/file", O_RDWR);
		failed += close(fd);
		fd = open("d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		failed += close(fd);
		fd = openat(AT_FDCWD, "d", O_RDONLY);
		failed += close(fd);
	}
	COSY_END;
	CHECK(!failed && read_bytes == 600, "%ld, %ld", failed, read_bytes);
	CHECK_FAST(before, 9 * 195);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%03d", i);
		unlinkat(dir, name, 0);
	}
	close(dir);
	rmdir("many");
}

/* --- Files ----------------------------------------------------------------------------------- */

/* Lets only appends to the file, where the file system can. */
static void append_only(const char *name, bool on)
{
	int fd = open(name, O_RDONLY), flags = 0;

	MUST(fd >= 0);
	if (!ioctl(fd, FS_IOC_GETFLAGS, &flags)) {
		flags = on ? flags | FS_APPEND_FL : flags & ~FS_APPEND_FL;
		if (ioctl(fd, FS_IOC_SETFLAGS, &flags) && on)
			printf("SKIP: no files for appends only: %s\n", strerror(errno));
	}
	close(fd);
}

/* A program that runs cannot be opened to write. */
static pid_t program_start(const char *self)
{
	char command[128];
	_Atomic int *runs = shared_memory(4096);
	pid_t pid;

	snprintf(command, sizeof(command), "cp %s running", self);
	MUST(!system(command));
	pid = child_start();
	if (!pid) {
		*runs = 1;
		/* The parent may just have it open to write. */
		do
			execl("running", "running", "wait", NULL);
		while (errno == ETXTBSY);
		_exit(1);
	}
	WAIT_FOR(pid, *runs);
	for (;;) {
		int fd = open("running", O_WRONLY);

		if (fd < 0 && errno == ETXTBSY)
			return pid;
		close(fd);
		MUST(!has_ended(pid));
		sched_yield();
	}
}

static void files_make(void)
{
	MUST(!chmod(".", 0755) && !mkdir("d", 0755) && !mkdir("closed", 0700) &&
	     !mkdir("fixed", 0755));
	file_make("file", 0666, "some text");
	file_make("runs", 0755, "");
	file_make("secret", 0600, "");
	file_make("readable", 0444, "x");
	file_make("writable", 0222, "x");
	file_make("appends", 0666, "x");
	file_make("leased", 0666, "x");
	file_make("d/file", 0666, "");
	file_make("d/one", 0444, "1");
	file_make("d/two", 0444, "22");
	file_make("closed/in", 0644, "");
	MUST(!symlink("file", "to-file") && !symlink("d", "to-d") &&
	     !symlink("nowhere", "dangling") && !symlink("loop", "loop"));
	MUST(!mount("none", "fixed", "tmpfs", 0, NULL));
	file_make("fixed/f", 0666, "");
	MUST(!mount(NULL, "fixed", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
	append_only("appends", true);
}

static void files_remove(void)
{
	static const char *const made[] = { "file",	 "runs",    "secret",	"readable",
					    "writable",	 "appends", "leased",	"d/file",
					    "d/one",	 "d/two",   "running",	"to-file",
					    "closed/in", "to-d",    "dangling", "loop" };

	append_only("appends", false);
	MUST(!umount2("fixed", MNT_DETACH));
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		MUST(!unlink(made[i]));
	MUST(!rmdir("d") && !rmdir("closed") && !rmdir("fixed"));
}

int main(int argc, char **argv)
{
	pid_t running;

	if (argc > 1) {
		pause();
		return 0;
	}
	if (geteuid())
		SKIP("it needs root, to be other users and to mount");
	directory_enter();
	files_make();
	running = program_start(argv[0]);
	all_users();
	limits();
	told_by_inotify("file", O_RDONLY, IN_CLOSE_NOWRITE);
	told_by_inotify("file", O_RDWR, IN_CLOSE_WRITE);
	told_by_inotify("d", O_RDONLY | O_DIRECTORY, IN_CLOSE_NOWRITE);
	denied_by_listener("file", O_RDONLY, FAN_OPEN_PERM);
	denied_by_listener("d", O_RDONLY | O_DIRECTORY, FAN_OPEN_PERM | FAN_ONDIR);
	waits_for_leases();
	following();
	numbers_again();
	for (int way = 0; way < 3; way++)
		directory_again(way);
	threads();
	replaced_by_thread();
	specialised();
	kill(running, SIGKILL);
	waitpid(running, NULL, 0);
	files_remove();
	directory_leave();
	return check_end();
}
