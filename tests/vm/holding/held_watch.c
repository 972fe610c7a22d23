// SPDX-License-Identifier: MIT
/*
 * Changes something in the middle of a READ (<linux/cosy_watch.h>): an answer that holds then must be
 * what stat(2) says.  holding.ko holds the READ at a lock.  At the first one, the way to the directory
 * has been looked up, and no inode is registered.  Some changes are made at each lock in turn.  Others
 * are held themselves, after their hook and before the attributes change, while a READ is made.
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
enum { TRIES = 5, TRIES_EACH = 2, PREPARATIONS = 1000 };
/* What was held for too long shows nothing, and is tried again. */
enum { TRIES_LATE = 3 };

/* Shared with the process that makes the READ. */
static struct exchange {
	_Atomic bool ready, goes; /* the reader has a watcher; it is to make the READ */
	_Atomic bool must_change, changed;
	_Atomic bool done; /* the READ */
	bool is_wrong;	   /* an answer holds that is not what stat(2) says */
} *shared;

struct change {
	const char *name;
	void (*make)(void);
	void (*undo)(void);   /* or NULL, as in the next two */
	void (*before)(void); /* the READ */
	void (*after)(void);  /* it, before its answer is judged */
	bool at_each_lock;
	bool is_held;	    /* the change, by a third process, which has the other processor */
	bool by_descriptor; /* the READ is of a descriptor's directory; else of a path */
	bool by_thread;	    /* of the reader's own process; else by this one */
	bool by_nobody;	    /* the READ */
};

static int directory, other;

static void exchange(void)
{
	MUST(!renameat2(AT_FDCWD, "top/m", AT_FDCWD, "top/k", RENAME_EXCHANGE));
}

/* Its new name begins with the old one, which another directory gets. */
static void lengthen(void)
{
	MUST(!rename("top/m", "top/mm") && !rename("top/k", "top/m"));
}

static void shorten(void)
{
	MUST(!rename("top/m", "top/k") && !rename("top/mm", "top/m"));
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

/* Of f, which has another name in the directory.  They are used without the directory's locks. */
static int opened = -1;

static void file_open(void)
{
	opened = open("top/m/f", O_RDONLY);
	MUST(opened >= 0);
}

/* Neither for reading nor for writing, which counts as open for neither. */
static void file_open_neither(void)
{
	opened = open("top/m/f", 3);
	MUST(opened >= 0);
}

static void file_close(void)
{
	if (opened >= 0)
		MUST(!close(opened));
	opened = -1;
}

static void file_change(void)
{
	static unsigned int turn;

	MUST(!fchmod(opened, turn++ & 1 ? 0644 : 0600));
}

static void change_await(void)
{
	while (!shared->changed)
		sched_yield();
}

/* By another process, which does not have the descriptor. */
static void file_change_by_path(void)
{
	struct stat is;

	MUST(!stat("top/m/f", &is) && !chmod("top/m/f", is.st_mode ^ 022));
}

static const struct change changes[] = {
	{ .name = "exchange of the directory", .make = exchange, .undo = exchange },
	{ .name = "longer name of the directory", .make = lengthen, .undo = shorten },
	{ .name = "mount over the directory", .make = mount_over, .undo = unmount },
	{ .name = "chmod above", .make = close_above, .undo = open_above, .by_nobody = true },
	{ .name = "dup2 over the descriptor",
	  .make = descriptor_replace,
	  .by_descriptor = true,
	  .by_thread = true },
	{ .name = "close, and a change after the READ",
	  .make = file_close,
	  .undo = file_close,
	  .before = file_open,
	  .after = file_change_by_path,
	  .at_each_lock = true },
	{ .name = "change of the file",
	  .make = file_change,
	  .undo = file_close,
	  .before = file_open_neither,
	  .at_each_lock = true },
	{ .name = "change of the file under way",
	  .make = file_change_by_path,
	  .after = change_await,
	  .is_held = true },
	{ .name = "chmod above under way",
	  .make = close_above,
	  .undo = open_above,
	  .after = change_await,
	  .by_nobody = true,
	  .is_held = true },
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

/* Returns whether an entry holds that is not what stat(2) says. */
static bool name_is_wrong(const struct watcher *watcher, const struct change *change,
			  struct answer *answer, const char *name)
{
	char path[32];
	struct stat is;

	answer->entry = answer_find(answer, name);
	if (!answer->entry || !answer->entry->word || !answer_holds(watcher, answer))
		return false;
	snprintf(path, sizeof(path), "%s%s", change->by_descriptor ? "" : "top/m/", name);
	return stat_ask(change->by_descriptor ? directory : AT_FDCWD, path, &is) ||
	       !stat_is(&is, answer->entry->stat);
}

static void reader_run(const struct change *change)
{
	static struct answer answer;
	struct watcher watcher;
	pthread_t thread;
	bool answered;

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
	answered = !answer_get(&watcher, change, &answer);
	shared->done = true;
	if (change->after)
		change->after();
	if (answered)
		shared->is_wrong = name_is_wrong(&watcher, change, &answer, "f") ||
				   name_is_wrong(&watcher, change, &answer, "g");
	_exit(0);
}

/* --- What comes in between ---------------------------------------------------------------- */

static bool was_late(void)
{
	return parameter(PARAMETERS "late");
}

/* Makes the change when the READ has taken so many locks.  Returns whether it took another one. */
static bool change_try(const struct change *change, int locks)
{
	pid_t pid;
	bool was_held;

	memset(shared, 0, sizeof(*shared));
	pid = child_start();
	if (!pid)
		reader_run(change);
	WAIT_FOR(pid, shared->ready);
	if (change->before)
		change->before();
	parameter_set(PARAMETERS "place", PLACE_LOCK);
	parameter_set(PARAMETERS "until", locks);
	parameter_set(PARAMETERS "thread", pid);
	shared->goes = true;
	WAIT_FOR(pid, parameter(PARAMETERS "asked") > locks || shared->done);
	was_held = parameter(PARAMETERS "asked") > locks;
	if (change->by_thread) {
		shared->must_change = true;
		while (!shared->changed && !has_ended(pid))
			sleep_ms(1);
		MUST(shared->changed || was_late());
	} else if (was_held) {
		change->make();
	}
	parameter_set(PARAMETERS "until", INT_MAX);
	MUST(waitpid(pid, NULL, 0) == pid);
	if (change->undo)
		change->undo();
	CHECK(!shared->is_wrong || was_late(),
	      "%s, after %d locks: the answer is not what stat says", change->name, locks);
	return was_held;
}

static bool change_between(const struct change *change, int locks)
{
	bool was_held = false;

	for (int k = 0; k < TRIES_LATE; k++) {
		was_held |= change_try(change, locks);
		if (!was_late())
			return was_held;
	}
	CHECK(false, "%s, after %d locks: the READ was held for too long", change->name, locks);
	return was_held;
}

/* Makes a READ while the change is under way. */
static void read_try(const struct change *change)
{
	pid_t reader, changer;

	memset(shared, 0, sizeof(*shared));
	reader = child_start();
	if (!reader)
		reader_run(change);
	WAIT_FOR(reader, shared->ready);
	changer = child_start();
	if (!changer) {
		thread_change((void *)change);
		_exit(0);
	}
	/* It has its processor to itself. */
	processor_take(0);
	parameter_set(PARAMETERS "place", PLACE_CHANGE);
	parameter_set(PARAMETERS "until", 0);
	parameter_set(PARAMETERS "thread", changer);
	shared->must_change = true;
	WAIT_FOR(changer, parameter(PARAMETERS "asked") == 1);
	shared->goes = true;
	WAIT_FOR(reader, shared->done);
	parameter_set(PARAMETERS "until", INT_MAX);
	MUST(waitpid(changer, NULL, 0) == changer && waitpid(reader, NULL, 0) == reader);
	processor_take(1);
	if (change->undo)
		change->undo();
	CHECK(!shared->is_wrong || was_late(), "%s: the answer is not what stat says",
	      change->name);
}

static void read_between(const struct change *change)
{
	for (int k = 0; k < TRIES_LATE; k++) {
		read_try(change);
		if (!was_late())
			return;
	}
	CHECK(false, "%s: the change was held for too long", change->name);
}

static void change_run(const struct change *change)
{
	int locks = 0;
	bool was_held;

	if (change->is_held) {
		for (int k = 0; k < TRIES; k++)
			read_between(change);
		return;
	}
	if (!change->at_each_lock) {
		for (int k = 0; k < TRIES; k++)
			CHECK(change_between(change, 0), "%s: the READ takes no lock",
			      change->name);
		return;
	}
	do {
		was_held = false;
		for (int k = 0; k < TRIES_EACH; k++)
			was_held |= change_between(change, locks);
		locks++;
	} while (was_held);
	CHECK(locks > 1, "%s: the READ takes no lock", change->name);
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
	holds_shorten();
	MUST(!chdir(place ? place : "/tmp") && !mkdir("held_watch", 0755) && !chdir("held_watch"));
	shared = shared_memory(sizeof(*shared));
	if (watcher_open(&watcher))
		SKIP("there are no watchers: %s", strerror(errno));
	MUST(!mkdir("top", 0755));
	directory = directory_make("top/m");
	other = directory_make("top/k");
	MUST(!link("top/m/f", "top/m/g"));
	/* On ext4 a file that is to be written back has no answer. */
	sync();
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		change_run(&changes[i]);
	return check_end();
}
