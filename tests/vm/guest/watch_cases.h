/* SPDX-License-Identifier: MIT */
/*
 * watch_cases.h - for tests that change a file or a directory whose attributes were read ahead.  A case
 * fails if stat(2) then says something else than an answer that its words call valid.
 */
#ifndef WATCH_CASES_H
#define WATCH_CASES_H

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "watch.h"

#define DIRECTORY "top/mid/dir"
#define FILE_PATH DIRECTORY "/file"
#define LINK_PATH DIRECTORY "/link"

static struct watcher watcher;
static struct answer answer;
static int before_fd = -1, later_fd = -1; /* that a case has opened */
static char *map;
static size_t map_size;
static bool done; /* the change could be made */

#define DO(call) (done = (long)(call) >= 0)

/* Writes a file whose times are long past. */
static void file_put(const char *path, size_t size)
{
	static char bytes[8192];
	struct timespec times[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		perror(path);
	fsync(fd);
	futimens(fd, times);
	close(fd);
}

static void nothing(void) {}

static void open_directory(void)
{
	before_fd = open(DIRECTORY, O_RDONLY);
}

/* What is asked about. */
enum how {
	BY_PATH,   /* the file, by a path from the current directory */
	BY_NUMBER, /* the file, by its name in `before_fd`, which is its directory */
	THE_LINK,
	THE_DIRECTORY,
};

enum {
	ALONE = 1, /* in a process and a mount namespace of its own, which it changes */
	DIRTY = 2, /* the file is not written back before the READ */
	KEPT = 4,  /* nothing changes, so the answer has to stay valid */
};

struct change_case {
	const char *name;
	void (*prepare)(void), (*change)(void);
	enum how how;
	int flags;
};

static int holes, valid;

static void case_clean(void)
{
	if (map)
		munmap(map, map_size);
	map = NULL;
	close(later_fd);
	close(before_fd);
	later_fd = before_fd = -1;
	umount2(FILE_PATH, MNT_DETACH);
	umount2(DIRECTORY, MNT_DETACH);
	umount2("top", MNT_DETACH);
	umount2("bound", MNT_DETACH);
}

static bool case_read(int dirfd, const char *prefix, const char *name)
{
	return !watcher_read(&watcher, dirfd, prefix, name, &answer) &&
	       answer_holds(&watcher, &answer);
}

static void case_run(const struct change_case *change)
{
	static const char *const paths[] = { FILE_PATH, "file", LINK_PATH, DIRECTORY };
	static const char *const prefixes[] = { DIRECTORY "/", NULL, DIRECTORY "/", "top/mid/" };
	static const char *const names[] = { "file", "file", "link", "dir" };
	enum how how = change->how;
	int dirfd, error, held, old_error;
	struct stat old, now;

	if (system("rm -rf top top2; mkdir -p " DIRECTORY) || symlink("file", LINK_PATH))
		perror("prepare");
	file_put(FILE_PATH, 100);
	sync();
	change->prepare();
	if (!(change->flags & DIRTY))
		sync();
	dirfd = AT_FDCWD;
	if (how == BY_NUMBER) {
		if (before_fd < 0)
			open_directory();
		dirfd = before_fd;
	}
	old_error = stat_ask(dirfd, paths[how], &old);
	held = case_read(dirfd, prefixes[how], names[how]);
	if (held && (old_error || !stat_is(&old, answer.entry->stat))) {
		printf("WRONG %s: before the change\n", change->name);
		holes++;
	}
	valid += held;
	/* Times have to differ where they change; the coarse clock ticks each 4 ms. */
	usleep(12000);
	/* Right before the change, so that the tick is far. */
	held = held && case_read(dirfd, prefixes[how], names[how]);
	done = false;
	change->change();
	/* A tick also ends answers, but not several times in a row. */
	for (int i = 0; (change->flags & KEPT) && i < 10 && !answer_holds(&watcher, &answer); i++)
		if (case_read(dirfd, prefixes[how], names[how]))
			change->change();
	if ((change->flags & KEPT) && !answer_holds(&watcher, &answer)) {
		printf("LOST %s\n", change->name);
		holes++;
	}
	error = stat_ask(dirfd, paths[how], &now);
	if (held && answer_holds(&watcher, &answer) &&
	    (error || !stat_is(&now, answer.entry->stat))) {
		printf("HOLE %s\n", change->name);
		holes++;
	}
	printf("%-28s %s, %s, %s\n", change->name, held ? "served" : "not served",
	       done ? "changed" : strerror(errno),
	       answer_holds(&watcher, &answer) ? "still valid" : "noticed");
	fflush(stdout);
}

/* A child: has a watcher of its own, and what it changes ends with it. */
static void case_run_alone(const struct change_case *change)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    watcher_open(&watcher))
			_exit(2);
		holes = valid = 0;
		case_run(change);
		_exit(holes ? 2 : !valid);
	}
	waitpid(child, &status, 0);
	holes += !WIFEXITED(status) || WEXITSTATUS(status) > 1;
	valid += !status;
}

/*
 * Runs the cases in argv[1], of which so many answers at least have to be valid before the change: one
 * that never is proves nothing.  Returns an exit status; 77: there are no watchers.
 */
static int cases_main(int argc, char **argv, const struct change_case *cases, size_t count,
		      int least)
{
	if (argc < 2 || chdir(argv[1]) || watcher_open(&watcher)) {
		perror("watcher");
		return errno == EOPNOTSUPP ? 77 : 1;
	}
	for (size_t i = 0; i < count; i++) {
		if (cases[i].flags & ALONE)
			case_run_alone(&cases[i]);
		else
			case_run(&cases[i]);
		case_clean();
	}
	printf("%d holes, %d answers were valid before the change\n", holes, valid);
	return holes || valid < least;
}

#endif /* WATCH_CASES_H */
