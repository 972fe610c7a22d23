// SPDX-License-Identifier: MIT
/*
 * Changes the way to the directory of a READ (<linux/cosy_watch.h>) after it was looked up, and before
 * the first inode is registered: holding.ko holds the READ at the first lock that it takes.  An answer
 * that holds then must be what stat(2) says.
 *
 * As root, on two processors, in argv[1] or TMPDIR.
 */
#include "../guest/check.h"
#include "../guest/watch.h"
#include "holding.h"
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mount.h>

/* A READ that meets the tick fails by itself. */
enum { TRIES = 10, PREPARATIONS = 1000 };

/* Shared with the process that makes the READ. */
static struct exchange {
	_Atomic bool ready, goes; /* the reader has a watcher; it is to make the READ */
	_Atomic bool must_change, changed;
	int error;     /* of the READ */
	bool holds;    /* its answer */
	bool is_wrong; /* ... is not what stat(2) says */
} *shared;

struct change {
	const char *name;
	void (*make)(void);
	void (*undo)(void);
	bool by_descriptor; /* the READ is of a descriptor's directory; else of a path */
	bool by_thread;	    /* of the reader's own process; else by this one */
	bool by_nobody;	    /* the READ */
};

static int directory, other;

static void exchange(void)
{
	MUST(!renameat2(AT_FDCWD, "top/m", AT_FDCWD, "top/k", RENAME_EXCHANGE));
}

static void mount_over(void)
{
	MUST(!mount("top/k", "top/m", NULL, MS_BIND, NULL));
}

static void unmount(void)
{
	MUST(!umount2("top/m", MNT_DETACH));
}

static void close_above(void)
{
	MUST(!chmod("top", 0700));
}

static void open_above(void)
{
	MUST(!chmod("top", 0755));
}

static void descriptor_replace(void)
{
	MUST(dup2(other, directory) == directory);
}

static void nothing(void) {}

static const struct change changes[] = {
	{ "exchange of the directory", exchange, exchange, false, false, false },
	{ "mount over the directory", mount_over, unmount, false, false, false },
	{ "chmod above", close_above, open_above, false, false, true },
	{ "dup2 over the descriptor", descriptor_replace, nothing, true, true, false },
};

/* --- The reader --------------------------------------------------------------------------- */

static void *thread_change(void *change)
{
	processor_take(1);
	while (!shared->must_change)
		sched_yield();
	((const struct change *)change)->make();
	shared->changed = true;
	return NULL;
}

static int answer_get(const struct watcher *watcher, const struct change *change,
		      struct answer *answer)
{
	if (change->by_descriptor)
		return watcher_read(watcher, directory, NULL, "f", answer);
	return watcher_read(watcher, AT_FDCWD, "top/m/", "f", answer);
}

/* Reads until an answer holds, so that nothing but the change can be in the way. */
static void answer_prepare(const struct watcher *watcher, const struct change *change,
			   struct answer *answer)
{
	for (int i = 0; i < PREPARATIONS; i++)
		if (!answer_get(watcher, change, answer) && answer_holds(watcher, answer))
			return;
	MUST(!"a READ without a change has an answer");
}

static void reader_run(const struct change *change)
{
	static struct answer answer;
	struct watcher watcher;
	pthread_t thread;
	struct stat is;
	int error;

	processor_take(0);
	if (change->by_nobody)
		become_nobody(true);
	MUST(!watcher_open(&watcher));
	answer_prepare(&watcher, change, &answer);
	if (change->by_thread)
		MUST(!pthread_create(&thread, NULL, thread_change, (void *)change));
	shared->ready = true;
	while (!shared->goes)
		sched_yield();
	shared->error = answer_get(&watcher, change, &answer) ? errno : 0;
	shared->holds = !shared->error && answer_holds(&watcher, &answer);
	if (shared->holds) {
		error = stat_ask(change->by_descriptor ? directory : AT_FDCWD,
				 change->by_descriptor ? "f" : "top/m/f", &is);
		shared->is_wrong = error || !stat_is(&is, answer.entry->stat);
	}
	_exit(0);
}

/* --- What comes in between ---------------------------------------------------------------- */

static void change_between(const struct change *change)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = child_start();
	if (!pid)
		reader_run(change);
	WAIT_FOR(pid, shared->ready);
	parameter_set(PARAMETERS "place", PLACE_LOCK);
	parameter_set(PARAMETERS "until", 0);
	parameter_set(PARAMETERS "thread", pid);
	shared->goes = true;
	WAIT_FOR(pid, parameter(PARAMETERS "asked") == 1);
	if (change->by_thread) {
		shared->must_change = true;
		WAIT_FOR(pid, shared->changed);
	} else {
		change->make();
	}
	parameter_set(PARAMETERS "until", INT_MAX);
	MUST(waitpid(pid, NULL, 0) == pid);
	change->undo();
	CHECK(!parameter(PARAMETERS "late"), "the READ was held for too long");
	CHECK(!shared->is_wrong, "%s: the answer is not what stat says", change->name);
}

static int directory_make(const char *path)
{
	char file[32];
	int fd;

	MUST(!mkdir(path, 0755));
	snprintf(file, sizeof(file), "%s/f", path);
	fd = open(file, O_CREAT | O_EXCL | O_WRONLY, 0644);
	MUST(fd >= 0 && !close(fd));
	fd = open(path, O_RDONLY | O_DIRECTORY);
	MUST(fd >= 0);
	return fd;
}

int main(int argc, char **argv)
{
	const char *place = argc > 1 ? argv[1] : getenv("TMPDIR");
	struct watcher watcher;

	holding_begin();
	MUST(!chdir(place ? place : "/tmp") && !mkdir("held_watch", 0755) && !chdir("held_watch"));
	shared = shared_memory(sizeof(*shared));
	if (watcher_open(&watcher))
		SKIP("there are no watchers: %s", strerror(errno));
	MUST(!mkdir("top", 0755));
	directory = directory_make("top/m");
	other = directory_make("top/k");
	/* On ext4 a file that is to be written back has no answer. */
	sync();
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		for (int k = 0; k < TRIES; k++)
			change_between(&changes[i]);
	return check_end();
}
