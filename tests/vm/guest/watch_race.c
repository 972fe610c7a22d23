// SPDX-License-Identifier: MIT
/*
 * watch_race DIR ROUNDS: one process changes files while another asks the kernel, an answer that was
 * read ahead, and the kernel again.  If the kernel says the same twice, and the answer was valid in
 * between but says something else, the answer was older than what its process had seen.
 *
 * Bounded by READs, ROUNDS for each kind of change, not by time.
 */
#define _GNU_SOURCE
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "watch.h"

static int flags_fd;
static unsigned int turn;

static void created(const char *path, int flags)
{
	close(open(path, O_CREAT | O_WRONLY | flags, 0644));
}

static void change_mode(void)
{
	chmod("f", turn++ & 1 ? 0644 : 0600);
}
static void change_size(void)
{
	if (truncate("f", turn++ % 5000))
		perror("truncate");
}
static void write_close(void)
{
	int fd = open("f", O_WRONLY | O_APPEND);

	if (write(fd, "x", 1) < 0 || (++turn % 1000 == 0 && ftruncate(fd, 0)))
		perror("write");
	close(fd);
}
static void exchange(void)
{
	renameat2(AT_FDCWD, "f", AT_FDCWD, "g", RENAME_EXCHANGE);
}
static void link_unlink(void)
{
	if (link("f", "l") || unlink("l"))
		perror("link");
}
static void replace(void)
{
	created("n", 0);
	rename("n", "f");
}
static void link_elsewhere(void)
{
	if (link("f", "t2/l") || unlink("t2/l"))
		perror("link");
}
static void rename_over_other(void)
{
	created("t2/n", 0);
	if (link("f", "t2/y") || rename("t2/n", "t2/y") || unlink("t2/y"))
		perror("rename");
}
static void rename_other(void)
{
	rename("t2/x", "t2/z");
	rename("t2/z", "t2/x");
}
static void change_flags(void)
{
	int flags = turn++ & 1 ? FS_NODUMP_FL : 0;

	ioctl(flags_fd, FS_IOC_SETFLAGS, &flags);
}
static void exchange_above(void)
{
	renameat2(AT_FDCWD, "t1", AT_FDCWD, "t2", RENAME_EXCHANGE);
}
static void replace_directory(void)
{
	rename("t1/m", "t3");
	mkdir("t1/m", 0755);
	created("t1/m/f", 0);
	unlink("t1/m/f");
	rmdir("t1/m");
	rename("t3", "t1/m");
}
static void change_directory_mode(void)
{
	chmod("t1/m", turn++ & 1 ? 0755 : 0000);
}
static void change_mode_above(void)
{
	chmod("t1", turn++ & 1 ? 0755 : 0000);
}
static void mount_over(void)
{
	mount("t", "t1/m", "tmpfs", 0, NULL);
	umount2("t1/m", MNT_DETACH);
}
static void mount_above(void)
{
	mount("t2", "t1", NULL, MS_BIND, NULL);
	umount2("t1", MNT_DETACH);
}

static const struct {
	const char *name;
	void (*change)(void);
	bool above;   /* the file is t1/m/f, by that path; else f */
	bool changes; /* compare the time of change, too */
	bool nobody;  /* the one who asks has no rights of root's */
} cases[] = {
	{ "chmod", change_mode, false, false, false },
	{ "truncate", change_size, false, false, false },
	{ "open, write, close", write_close, false, false, false },
	{ "exchange", exchange, false, false, false },
	{ "link, unlink", link_unlink, false, false, false },
	{ "replace", replace, false, false, false },
	{ "link in another directory", link_elsewhere, false, false, false },
	{ "rename over another name", rename_over_other, false, false, false },
	{ "rename of another name", rename_other, false, true, false },
	{ "SETFLAGS", change_flags, false, true, false },
	{ "exchange above", exchange_above, true, false, false },
	{ "replace the directory", replace_directory, true, false, false },
	{ "mount over the directory", mount_over, true, false, false },
	{ "mount above", mount_above, true, false, false },
	{ "chmod of the directory", change_directory_mode, true, false, true },
	{ "chmod above", change_mode_above, true, false, true },
};

static void use_processor(int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static bool is_same(const struct stat *a, const struct stat *b, bool changes)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_mode == b->st_mode &&
	       a->st_size == b->st_size && a->st_nlink == b->st_nlink &&
	       (!changes || !memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim)));
}

/* Begins a process that goes on with it until this one ends, or kills it. */
static pid_t forever(int processor, void (*what)(void))
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	use_processor(processor);
	for (unsigned int i = 0;; i++) {
		what();
		/* Let the other one have a READ now and then. */
		if (i % 8 == 7)
			usleep(50);
	}
}

/* Takes the processor away from the others at any place. */
static void hog(void)
{
	struct timespec time = { 0, 100000 };

	for (volatile int i = 0; i < 20000; i++)
		;
	nanosleep(&time, NULL);
}

struct counts {
	unsigned long read, refused, judged, stale;
};

static void answer_judge(const struct watcher *watcher, const struct answer *answer, size_t i,
			 const char *path, struct counts *counts)
{
	const struct stat *said = (const struct stat *)answer->entry->stat;
	struct stat before, after;
	int error, error_after;

	for (int k = 0; k < 20; k++) {
		error = stat_ask(AT_FDCWD, path, &before);
		if (!answer_holds(watcher, answer))
			return;
		error_after = stat_ask(AT_FDCWD, path, &after);
		if (error && error == error_after) {
			counts->judged++;
			counts->stale++;
		} else if (!error && !error_after && is_same(&before, &after, cases[i].changes)) {
			counts->judged++;
			counts->stale += !is_same(&before, said, cases[i].changes);
		}
	}
}

static unsigned long case_run(size_t i, unsigned long rounds)
{
	const char *path = cases[i].above ? "t1/m/f" : "f";
	const char *prefix = cases[i].above ? "t1/m/" : NULL;
	static struct answer answer;
	struct counts counts = { 0 };
	struct watcher watcher;

	if (cases[i].nobody && (setegid(1) || seteuid(1)))
		perror("seteuid");
	if (watcher_open(&watcher)) {
		perror("watcher");
		return 1;
	}
	use_processor(0);
	for (unsigned long k = 0; k < rounds; k++) {
		counts.read++;
		if (watcher_read(&watcher, AT_FDCWD, prefix, "f", &answer) || !answer.entry)
			counts.refused++;
		else
			answer_judge(&watcher, &answer, i, path, &counts);
	}
	printf("%-28s %7lu READs, %7lu refused, %7lu judged, %5lu STALE\n", cases[i].name,
	       counts.read, counts.refused, counts.judged, counts.stale);
	fflush(stdout);
	return counts.stale;
}

/* A READ of f meets its inode twice. */
static void prepare(void)
{
	struct timespec times[2] = { { 0, UTIME_OMIT }, { 1000000000, 0 } };

	if (system("umount -l t1/m t1 2>/dev/null; rm -rf *; mkdir -p t1/m t2/m; echo two >t2/m/f; "
		   ": >t1/m/f; : >f; echo ggg >g; ln f t2/x; ln f f2; sync"))
		perror("prepare");
	utimensat(AT_FDCWD, "f", times, 0);
	chmod(".", 0755);
	chmod("t1", 0755);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000, stale = 0;
	pid_t changer, hogs[2], child;
	struct watcher watcher;
	int status;

	if (argc < 2 || (mkdir(argv[1], 0755) && errno != EEXIST) || chdir(argv[1]) ||
	    chmod("/dev/cosy", 0666))
		return 1;
	if (watcher_open(&watcher)) {
		perror("watcher");
		return errno == EOPNOTSUPP ? 77 : 1;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		prepare();
		/* Neither for reading nor for writing, which counts as open for neither. */
		flags_fd = open("f", 3);
		changer = forever(1, cases[i].change);
		hogs[0] = forever(0, hog);
		hogs[1] = forever(1, hog);
		child = fork();
		if (!child)
			_exit(case_run(i, rounds) != 0);
		waitpid(child, &status, 0);
		stale += status != 0;
		kill(changer, SIGKILL);
		kill(hogs[0], SIGKILL);
		kill(hogs[1], SIGKILL);
		while (waitpid(-1, NULL, 0) > 0)
			;
		close(flags_fd);
	}
	return stale != 0;
}
