/* SPDX-License-Identifier: MIT */
/*
 * Takes attributes by names of several components in a process with several threads, which share
 * the current directory and the root: the calls are specialised, and follow whatever another thread
 * changes.
 */
#include "change.h"
#include "guards.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#define STATS 200

static struct change shared;
static char absolute[256];

static void file_make(const char *name, long size)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	MUST(fd >= 0 && !ftruncate(fd, size) && !close(fd));
}

/* Makes NAME/a/x, of `size` bytes. */
static void folder_make(const char *name, long size)
{
	char path[64];

	MUST(!mkdir(name, 0755));
	snprintf(path, sizeof(path), "%s/a", name);
	MUST(!mkdir(path, 0755));
	strcat(path, "/x");
	file_make(path, size);
}

static void folder_remove(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/a/x", name);
	CHECK(!unlink(path), "%s", path);
	*strrchr(path, '/') = 0;
	CHECK(!rmdir(path) && !rmdir(name), "%s", name);
}

static void *changes_thread(void *make)
{
	void (*const change_make)(unsigned int) = (void (*)(unsigned int))make;

	while (!shared.end) {
		unsigned int asked = shared.asked;

		if (asked != shared.done) {
			change_make(asked);
			shared.done = asked;
		} else {
			sched_yield();
		}
	}
	return NULL;
}

static pthread_t changes_begin(void (*make)(unsigned int))
{
	pthread_t thread;

	shared.asked = shared.done = 0;
	shared.end = false;
	MUST(!pthread_create(&thread, NULL, changes_thread, (void *)make));
	return thread;
}

static void changes_end(pthread_t thread)
{
	shared.end = true;
	MUST(!pthread_join(thread, NULL));
}

static void nothing(unsigned int number)
{
	(void)number;
}

/* Names are specialised while another thread does nothing. */
static void names(const char *name)
{
	struct cosy_stats before = counts();
	pthread_t thread = changes_begin(nothing);
	long failed = 0, other = 0;
	struct stat st;

	COSY_START;
	for (int i = 0; i < STATS; i++) {
		failed += stat(name, &st);
		other += st.st_size != 1;
	}
	COSY_END;
	changes_end(thread);
	CHECK(!failed && !other, "%s: %ld failed, %ld of another file", name, failed, other);
	/* Each of a few safepoints costs an ordinary call. */
	CHECK_FAST(before, STATS * 3 / 4);
}

static void directory_change(unsigned int number)
{
	if (chdir(number % 2 ? "../two" : "../one"))
		_exit(1);
}

static void root_change(unsigned int number)
{
	/* The current directory lies outside of either. */
	if (chroot(number % 2 ? "two" : "one"))
		_exit(1);
}

/*
 * Calls that begin after another thread's change is done find the file of the changed directory: of
 * 2 bytes after each odd number, else of 1.
 */
static void follow(const char *what, const char *name, void (*make)(unsigned int))
{
	pthread_t thread = changes_begin(make);
	long followed = 0, late = 0;

	for (unsigned int turn = 1; turn <= 40; turn++) {
		unsigned int done = 0;
		struct stat st;

		COSY_START;
		for (int i = 0; i < 4; i++)
			stat(name, &st);
		shared.asked = turn;
		for (long i = 0; i < 2000000 && !done; i++) {
			done = shared.done == turn;
			if (stat(name, &st))
				st.st_size = 0;
		}
		COSY_END;
		followed += done;
		late += done && st.st_size != 1 + turn % 2;
	}
	changes_end(thread);
	CHECK(followed == 40 && !late, "%s: %ld followed, %ld late", what, followed, late);
}

static long unmounted;

static void directory_unmount(unsigned int number)
{
	(void)number;
	if (chdir("/tmp"))
		_exit(1);
	/* The other thread gives the directory back when it asks for the next name. */
	for (long i = 0; i < 2000000; i++) {
		if (!umount2(absolute, 0)) {
			unmounted++;
			return;
		}
		sched_yield();
	}
}

/* Another thread leaves a file system, and unmounts it while this one asks for names. */
static void leave_and_unmount(void)
{
	unsigned int done = 0;
	pthread_t thread;
	struct stat st;
	char *at;

	if (geteuid())
		return;
	MUST(!mkdir("mount", 0755) && !mount("none", "mount", "tmpfs", 0, NULL) && !chdir("mount"));
	MUST(!mkdir("a", 0755));
	file_make("a/x", 1);
	MUST(getcwd(absolute, sizeof(absolute)));
	thread = changes_begin(directory_unmount);
	COSY_START;
	for (int i = 0; i < 4; i++)
		stat("a/x", &st);
	shared.asked = 1;
	for (long i = 0; i < 4000000 && !done; i++) {
		done = shared.done == 1;
		stat("a/x", &st);
	}
	COSY_END;
	changes_end(thread);
	CHECK(done && unmounted == 1, "unmounted %ld times", unmounted);
	at = strrchr(absolute, '/');
	*at = 0;
	MUST(!chdir(absolute));
	if (!unmounted)
		umount2("mount", MNT_DETACH);
	CHECK(!rmdir("mount"), "rmdir");
}

int main(void)
{
	struct cosy_stats before;
	int outside;

	directory_enter();
	folder_make("one", 1);
	folder_make("two", 2);
	MUST(getcwd(absolute, sizeof(absolute) - 8));
	strcat(absolute, "/one/a/x");
	names("one/a/x");
	names(absolute);
	MUST(!chdir("one"));
	before = counts();
	follow("another directory", "a/x", directory_change);
	CHECK_FAST(before, 100);
	MUST(!chdir(".."));
	if (!geteuid()) {
		before = counts();
		outside = open("/", O_RDONLY | O_DIRECTORY);
		MUST(outside >= 0 && !chroot("one"));
		follow("another root", "/a/x", root_change);
		/* Back to the first root, which the current directory does not lead to. */
		MUST(!fchdir(outside) && !chroot(".") && !close(outside));
		*strstr(absolute, "/one/a/x") = 0;
		MUST(!chdir(absolute));
		CHECK_FAST(before, 100);
	}
	leave_and_unmount();
	folder_remove("one");
	folder_remove("two");
	directory_leave();
	return check_end();
}
