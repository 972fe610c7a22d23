// SPDX-License-Identifier: MIT
/*
 * watch_attack DIR: what an unprivileged process could try with a watcher: names of directories that
 * it may not list, answers after a change of its rights, another process's words, more registrations
 * than the module can bear, and arguments that change or make no sense.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "watch.h"
#include "watch_checks.h"
#include "watch_tests.h"

static void directory_that_may_not_be_listed(void)
{
	struct watcher watcher;
	int fd;

	mkdir("hidden", 0711);
	close(open("hidden/secret", O_CREAT | O_WRONLY, 0644));
	fd = open("hidden", O_RDONLY);
	become_nobody();
	CHECK(!watcher_open(&watcher));
	/* Someone who may list it has opened it, so the caller can list it as well. */
	CHECK(!read_error(&watcher, fd, NULL, "secret"));
	CHECK(!read_error(&watcher, AT_FDCWD, "hidden/", "secret"));
	close(fd);
	CHECK(read_error(&watcher, AT_FDCWD, "hidden/", "secret") == EACCES);
	fd = open("hidden", O_PATH);
	CHECK(read_error(&watcher, fd, NULL, "secret") == EOPNOTSUPP);
	CHECK(read_error(&watcher, AT_FDCWD, "hidden/", "secret") == EACCES);
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
	BAD(bad.request = COSY_WATCH_ALONE | 4, EINVAL);
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

/* What is told of absent attributes is what getxattr(2) returns, as long as the answer holds. */
static void absent_attributes(void)
{
	static const char *const names[COSY_WATCH_XATTR_COUNT] = COSY_WATCH_XATTRS;
	static const char capability[20] = { 0, 0, 0, 2 };
	struct watcher watcher;

	make_file("absent");
	sync();
	CHECK(!watcher_open(&watcher));
	for (int i = 0; i < 100; i++)
		if (!watcher_read_as(&watcher, AT_FDCWD, NULL, "absent", COSY_WATCH_ABSENT,
				     &answer) &&
		    answer_holds(&watcher, &answer))
			break;
	CHECK(answer_holds(&watcher, &answer));
	for (int i = 0; i < COSY_WATCH_XATTR_COUNT; i++) {
		errno = 0;
		CHECK(getxattr("absent", names[i], NULL, 0) < 0);
		CHECK(answer.entry->xattr_errors[i] == errno);
	}
	CHECK(!listxattr("absent", NULL, 0) && (answer.entry->flags & COSY_WATCH_NO_XATTRS));
	/* Without the request nothing is told. */
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "absent") && !answer.entry->xattr_errors[1] &&
	      !answer.entry->flags);
	CHECK(!setxattr("absent", names[1], capability, sizeof(capability), 0));
	CHECK(!answer_holds(&watcher, &answer));
	for (int i = 0; i < 100; i++)
		if (!watcher_read_as(&watcher, AT_FDCWD, NULL, "absent", COSY_WATCH_ABSENT,
				     &answer) &&
		    answer_holds(&watcher, &answer))
			break;
	CHECK(answer_holds(&watcher, &answer) && !answer.entry->xattr_errors[1] &&
	      answer.entry->xattr_errors[0] && !(answer.entry->flags & COSY_WATCH_NO_XATTRS));
	CHECK(!removexattr("absent", names[1]) && !answer_holds(&watcher, &answer));
}

/* Returns whether a READ answers that access(2) succeeds for this mode. */
static bool is_permitted(const struct watcher *watcher, const char *name, int mode)
{
	for (int i = 0; i < 100; i++)
		if (!watcher_read_as(watcher, AT_FDCWD, NULL, name, COSY_WATCH_ACCESS(mode),
				     &answer) &&
		    answer_holds(watcher, &answer))
			return answer.entry->flags & COSY_WATCH_PERMITTED;
	CHECK(false);
	return false;
}

static void close_to_others(void)
{
	CHECK(!chmod("open", 0600));
}

/* What access(2) would permit is told for the mode that was asked for, and until it changes. */
static void permissions(void)
{
	struct helper helper = helper_begin(close_to_others);
	struct watcher watcher;

	make_file("open");
	make_file("closed");
	CHECK(!chmod("open", 0644) && !chmod("closed", 0600));
	sync();
	become_nobody();
	CHECK(!watcher_open(&watcher));
	CHECK(is_permitted(&watcher, "open", F_OK) && is_permitted(&watcher, "closed", F_OK));
	CHECK(!is_permitted(&watcher, "closed", R_OK) && !is_permitted(&watcher, "open", W_OK));
	CHECK(!is_permitted(&watcher, "open", R_OK | X_OK));
	CHECK(is_permitted(&watcher, "open", R_OK));
	helper_run(&helper);
	CHECK(!answer_holds(&watcher, &answer));
	CHECK(!is_permitted(&watcher, "open", R_OK));
	/* Other modes are no modes. */
	CHECK(watcher_read_as(&watcher, AT_FDCWD, NULL, "open", COSY_WATCH_ACCESS(8), &answer) &&
	      errno == EINVAL);
}

/* access(2) is for the real user, whose permissions are not those that other calls have. */
static void permissions_of_the_real_user(void)
{
	struct watcher watcher;

	make_file("secret");
	CHECK(!chmod("secret", 0600));
	sync();
	CHECK(!setresuid(65534, 0, 0));
	CHECK(!watcher_open(&watcher));
	CHECK(access("secret", R_OK) && !is_permitted(&watcher, "secret", R_OK));
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
		after_a_change_of_rights,
		of_another_process,
		number_that_is_reused,
		not_opened_again,
		senseless_arguments,
		others_are_not_seen,
		directory_that_became_hidden,
		one_word_for_an_inode,
		many_watchers_of_an_inode,
		map_that_is_written_later,
		absent_attributes,
		permissions,
		permissions_of_the_real_user,
		no_event_of_a_read,
		listener_that_may_deny,
		silence_after_a_tick,
	};

	return tests_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
