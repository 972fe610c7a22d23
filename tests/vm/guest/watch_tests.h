/* SPDX-License-Identifier: MIT */
/* watch_tests.h - what tests of watchers share: READs that are checked, helpers, and their main. */
#ifndef WATCH_TESTS_H
#define WATCH_TESTS_H

#include <sys/wait.h>

#include "watch.h"
#include "watch_checks.h"

static struct answer answer;

static inline int read_error(const struct watcher *watcher, int dirfd, const char *prefix,
			     const char *name)
{
	return watcher_read(watcher, dirfd, prefix, name, &answer) ? errno : 0;
}

/* Becomes an ordinary user, who may use the device. */
static inline void become_nobody(void)
{
	CHECK(!setgid(65534) && !setuid(65534));
}

static inline void make_file(const char *path)
{
	close(open(path, O_CREAT | O_WRONLY, 0644));
}

/* A READ may meet the tick, or a change.  False: it went on failing. */
static inline bool read_holds(const struct watcher *watcher, int dirfd, const char *prefix,
			      const char *name)
{
	for (int i = 0; i < 100; i++)
		if (!watcher_read(watcher, dirfd, prefix, name, &answer) &&
		    answer_holds(watcher, &answer))
			return true;
	return false;
}

static inline bool has_ended(const struct watcher *watcher)
{
	return watcher->words[COSY_WATCH_WAY] & COSY_WATCH_ENDED;
}

/* A process that keeps the rights and mounts of now, and runs `what` when it is told to. */
struct helper {
	int to, from;
};

static inline struct helper helper_begin(void (*what)(void))
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

static inline void helper_run(const struct helper *helper)
{
	char byte;

	CHECK(write(helper->to, "x", 1) == 1 && read(helper->from, &byte, 1) == 1);
}

static inline void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* Runs the tests in argv[1], which is made.  Returns an exit status; 77: there are no watchers. */
static int tests_main(int argc, char **argv, void (*const tests[])(void), size_t count)
{
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
	make_file("f");
	sync();
	return tests_run(tests, count);
}

#endif /* WATCH_TESTS_H */
