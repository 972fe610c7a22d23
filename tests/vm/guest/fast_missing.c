/* SPDX-License-Identifier: MIT */
/*
 * Asks for names that are not there, and by names that begin at the root: results are those of the
 * calls themselves, whatever appears and goes meanwhile.
 */
#include "change.h"
#include "guards.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>

#define TIMES 8

/* Compares a call in a region, made several times, with one outside. */
static void same_name(int dirfd, const char *name, int flags)
{
	struct stat got[TIMES] = { 0 }, want = { 0 };
	long result[TIMES], wanted;
	struct statx gotx, wantx;
	long resultx, wantedx;

	memset(&gotx, 0, sizeof(gotx));
	memset(&wantx, 0, sizeof(wantx));
	COSY_START;
	for (int i = 0; i < TIMES; i++)
		result[i] = fstatat(dirfd, name, &got[i], flags) ? -errno : 0;
	resultx = statx(dirfd, name, flags, STATX_BASIC_STATS, &gotx) ? -errno : 0;
	COSY_END;
	wanted = fstatat(dirfd, name, &want, flags) ? -errno : 0;
	wantedx = statx(dirfd, name, flags, STATX_BASIC_STATS, &wantx) ? -errno : 0;
	for (int i = 0; i < TIMES; i++) {
		CHECK(result[i] == wanted, "fstatat(%d, \"%.80s\", %#x), %d: %ld, not %ld", dirfd,
		      name, flags, i, result[i], wanted);
		CHECK(!memcmp(&got[i], &want, sizeof(want)),
		      "fstatat(%d, \"%.80s\", %#x), %d: other attributes", dirfd, name, flags, i);
	}
	CHECK(resultx == wantedx && !memcmp(&gotx, &wantx, sizeof(wantx)),
	      "statx(%d, \"%.80s\", %#x): %ld, not %ld", dirfd, name, flags, resultx, wantedx);
}

/* Each in the current directory, after a slash, and after that directory's own name. */
static const char *const names[] = { "none",   "none/x",    "none/",	    "d",
				     "d/x",    "d/none",    "d/none/x",	    "d/x/none",
				     "d//x",   "d/.",	    "d/../d",	    "dangling",
				     "to-d/x", "to-d/none", "d/e/f/g/none", "d/e/f/g/x",
				     "",       "closed/x",  "closed/none",  ".",
				     "..",     "./none",    "./d/none" };

static void all_names(void)
{
	int fds[] = { AT_FDCWD, open(".", O_RDONLY | O_DIRECTORY), open("d", O_RDONLY), -1 };
	char path[256];

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (size_t d = 0; d < sizeof(fds) / sizeof(*fds); d++)
			for (int flags = 0; flags <= AT_SYMLINK_NOFOLLOW;
			     flags += AT_SYMLINK_NOFOLLOW) {
				same_name(fds[d], names[n], flags);
				snprintf(path, sizeof(path), "/%s", names[n]);
				same_name(fds[d], path, flags);
				snprintf(path, sizeof(path), "%s/%s", check_directory, names[n]);
				same_name(fds[d], path, flags);
				snprintf(path, sizeof(path), "/%s/%s", check_directory, names[n]);
				same_name(fds[d], path, flags);
			}
	close(fds[1]);
	close(fds[2]);
}

/* Kernels differ in whether they look at the attribute's name or at the file's first. */
static void same_attribute(void)
{
	static const char *const files[] = {
		"none", "d/x", "d/none", "closed/x", "closed/none", ""
	};
	char name64[65], name256[257], value[8];
	const char *attributes[] = { "user.none", "", (char *)8, name64, name256 };

	memset(name64, 'n', 64);
	name64[64] = 0;
	memset(name256, 'n', 256);
	name256[256] = 0;
	for (size_t f = 0; f < sizeof(files) / sizeof(*files); f++)
		for (size_t a = 0; a < sizeof(attributes) / sizeof(*attributes); a++) {
			long result[4], wanted;

			COSY_START;
			for (int i = 0; i < 4; i++)
				result[i] = syscall(SYS_getxattr, files[f], attributes[a], value,
						    sizeof(value)) < 0
						    ? -errno
						    : 0;
			COSY_END;
			wanted = syscall(SYS_getxattr, files[f], attributes[a], value,
					 sizeof(value)) < 0
					 ? -errno
					 : 0;
			for (int i = 0; i < 4; i++)
				CHECK(result[i] == wanted,
				      "getxattr(\"%s\", %zu), %d: %ld, not %ld", files[f], a, i,
				      result[i], wanted);
		}
}

/* Counts the calls that were specialised, of 4 * TIMES by a name that is not there. */
static void answered(const char *name, bool served)
{
	struct cosy_stats before = counts(), after;
	struct stat st;
	long failed = 0;

	COSY_START;
	for (int i = 0; i < 4 * TIMES; i++)
		failed += fstatat(AT_FDCWD, name, &st, 0) != 0;
	COSY_END;
	after = counts();
	CHECK(failed == 4 * TIMES, "%s: %ld of %d", name, failed, 4 * TIMES);
	if (kernel_expected())
		CHECK((after.fast - before.fast >= 4 * TIMES - 2) == served, "%s: %llu specialised",
		      name, (unsigned long long)(after.fast - before.fast));
}

/* A name is really looked up where the cache does not have all of a directory. */
static void not_cached(void)
{
	static const char *const there[] = { "status", "maps", "limits", "stat", "mounts" };
	struct cosy_stats before = counts();
	char path[64];
	struct stat st;
	long failed = 0;
	pid_t pid = child_start();
	int dir;

	if (!pid)
		for (;;)
			pause();
	snprintf(path, sizeof(path), "/proc/%d", pid);
	dir = open(path, O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	COSY_START;
	for (int i = 0; i < 5; i++)
		failed += fstatat(dir, there[i], &st, 0) != 0;
	failed += !fstatat(dir, "none", &st, 0);
	COSY_END;
	CHECK(!failed, "%s: %ld", path, failed);
	CHECK_GUARD(before, CACHED);
	close(dir);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The directory one is in is removed. */
static void removed_directory(void *unused)
{
	struct stat st;
	long before = 0, after = 0;

	(void)unused;
	MUST(!mkdir("gone", 0755) && !chdir("gone"));
	COSY_START;
	for (int i = 0; i < 4; i++)
		before += fstatat(AT_FDCWD, "x", &st, 0) && errno == ENOENT;
	rmdir("../gone");
	for (int i = 0; i < 4; i++)
		after += fstatat(AT_FDCWD, "x", &st, 0) && errno == ENOENT;
	COSY_END;
	CHECK(before == 4 && after == 4, "%ld before, %ld after", before, after);
}

/* --- Changed by another process or thread ------------------------------------------------ */

static void make_or_remove(unsigned int turn)
{
	if (turn % 2 ? close(open("change/x", O_CREAT | O_WRONLY, 0600)) : unlink("change/x"))
		_exit(1);
}

static void rename_to(unsigned int turn)
{
	if (turn % 2 ? rename("from", "change/x") : rename("change/x", "from"))
		_exit(1);
}

static void link_to(unsigned int turn)
{
	if (turn % 2 ? link("from", "change/x") : unlink("change/x"))
		_exit(1);
}

static void rename_above(unsigned int turn)
{
	if (turn % 2 ? rename("other", "change/d") : rename("change/d", "other"))
		_exit(1);
}

/* Checks that a process that has seen that a change is done finds, or does not find, the name. */
static void follow(const char *what, const char *name, void (*make)(unsigned int))
{
	struct cosy_stats before = counts();
	unsigned long late = 0, followed = 0;
	char path[256];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", check_directory, name);
	pid = changes_start(make);
	for (unsigned int turn = 1; turn <= 40; turn++) {
		const char *asked = turn % 4 < 2 ? name : path;
		unsigned int done = 0;
		struct stat st;
		int failed = 0;

		COSY_START;
		for (int i = 0; i < 4; i++)
			fstatat(AT_FDCWD, asked, &st, 0);
		change->asked = turn;
		for (long i = 0; i < 2000000 && !done; i++) {
			done = change->done == turn;
			failed = fstatat(AT_FDCWD, asked, &st, 0) ? errno : 0;
		}
		COSY_END;
		followed += done;
		late += done && failed != (turn % 2 ? 0 : ENOENT);
	}
	changes_stop(pid);
	CHECK(followed == 40 && !late, "%s: %lu followed, %lu late", what, followed, late);
	CHECK_FAST(before, 100);
}

static void *exchange(void *unused)
{
	(void)unused;
	while (!change->end)
		if (syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "x", 2))
			return "renameat2";
	return NULL;
}

/* Two names are exchanged all the time: neither is ever missing. */
static void never_missing(void)
{
	struct cosy_stats before = counts();
	pthread_t thread;
	long missing = 0;
	void *failed;

	change->end = false;
	MUST(!chdir("change") && !pthread_create(&thread, NULL, exchange, NULL));
	for (int turn = 0; turn < 50; turn++) {
		struct stat st;

		COSY_START;
		for (int i = 0; i < 500; i++) {
			missing += fstatat(AT_FDCWD, "x", &st, 0) != 0;
			missing += fstatat(AT_FDCWD, "d", &st, 0) != 0;
		}
		COSY_END;
	}
	change->end = true;
	pthread_join(thread, &failed);
	CHECK(!failed && !missing, "%ld missing", missing);
	CHECK_FAST(before, 25000);
	MUST(!chdir(".."));
}

/* A name in the shared buffer is changed all the time, from one that is there to another. */
static char *flipped;

static void *flip(void *unused)
{
	(void)unused;
	while (!change->end)
		*(volatile char *)flipped ^= 'a' ^ 'b';
	return NULL;
}

static void never_missing_in_place(void)
{
	pthread_t thread;
	long missing = 0;

	flipped = cosy_malloc(16);
	MUST(flipped && !close(open("a", O_CREAT | O_WRONLY, 0600)) &&
	     !close(open("b", O_CREAT | O_WRONLY, 0600)));
	strcpy(flipped, "a");
	change->end = false;
	MUST(!pthread_create(&thread, NULL, flip, NULL));
	for (int turn = 0; turn < 50; turn++) {
		struct stat st;

		COSY_START;
		for (int i = 0; i < 1000; i++)
			missing += fstatat(AT_FDCWD, flipped, &st, 0) != 0;
		COSY_END;
	}
	change->end = true;
	pthread_join(thread, NULL);
	cosy_free(flipped);
	CHECK(!missing, "%ld missing", missing);
	MUST(!unlink("a") && !unlink("b"));
}

static void changing(void)
{
	change = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(change != MAP_FAILED && !mkdir("change", 0755));
	follow("made and removed", "change/x", make_or_remove);
	MUST(!close(open("from", O_CREAT | O_WRONLY, 0600)));
	follow("renamed", "change/x", rename_to);
	follow("linked", "change/x", link_to);
	MUST(!unlink("from"));
	MUST(!mkdir("other", 0755) && !close(open("other/x", O_CREAT | O_WRONLY, 0600)));
	follow("renamed above", "change/d/x", rename_above);
	MUST(!rename("other", "change/d") && !close(open("change/x", O_CREAT | O_WRONLY, 0600)));
	never_missing();
	never_missing_in_place();
	/* They may have changed places. */
	unlink("change/d/x");
	unlink("change/x/x");
	MUST((!rmdir("change/d") && !unlink("change/x")) ||
	     (!rmdir("change/x") && !unlink("change/d")));
	MUST(!rmdir("change"));
	munmap(change, 4096);
}

/* --- The root --------------------------------------------------------------------------- */

static void file_make(const char *name, int size)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	MUST(fd >= 0 && !ftruncate(fd, size) && !close(fd));
}

/* Changes its root in a region, then unmounts what was the root. */
static void other_root(void *unused)
{
	long r = 0, gone = -1;
	struct stat st[4] = { 0 };
	int old;

	(void)unused;
	MUST(!unshare(CLONE_NEWNS | CLONE_FS) &&
	     !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	old = open("/", O_RDONLY | O_DIRECTORY);
	MUST(old >= 0 && !mkdir("root", 0755) && !mount("none", "root", "tmpfs", 0, NULL));
	file_make("root/mark", 1);
	MUST(!mkdir("root/d", 0755));
	file_make("root/d/mark", 2);
	MUST(!chdir("root"));
	COSY_START;
	for (int i = 0; i < 4; i++)
		r += !fstatat(AT_FDCWD, "/mark", &st[0], 0);
	r += chroot(".");
	for (int i = 0; i < 4; i++) {
		r += fstatat(AT_FDCWD, "/mark", &st[0], 0);
		r += fstatat(AT_FDCWD, "/d/mark", &st[1], 0);
	}
	r += chroot("d");
	for (int i = 0; i < 4; i++)
		r += fstatat(AT_FDCWD, "/mark", &st[2], 0);
	r += fchdir(old);
	r += chroot(".");
	r += chdir(check_directory);
	for (int i = 0; i < 4; i++)
		r += fstatat(AT_FDCWD, "/", &st[3], 0);
	gone = umount2("root", 0);
	COSY_END;
	CHECK(!r && st[0].st_size == 1 && st[1].st_size == 2 && st[2].st_size == 2,
	      "%ld failed; sizes %lld, %lld, %lld", r, (long long)st[0].st_size,
	      (long long)st[1].st_size, (long long)st[2].st_size);
	CHECK(!gone && !rmdir("root"), "umount");
}

/* Another process gives all of the namespace another root, while a region has the old one. */
static void pivoted_root(void *unused)
{
	unsigned int done = 0;
	long r = 0;
	struct stat st = { 0 }, deep = { 0 };
	pid_t pid;

	(void)unused;
	change = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(change != MAP_FAILED);
	MUST(!unshare(CLONE_NEWNS | CLONE_FS) &&
	     !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	MUST(!mkdir("root", 0755) && !mount("none", "root", "tmpfs", 0, NULL) && !chdir("root") &&
	     !chroot(".") && !mkdir("new", 0755) && !mount("none", "new", "tmpfs", 0, NULL) &&
	     !mkdir("new/old", 0755) && !mkdir("d", 0755) && !mkdir("new/d", 0755));
	file_make("mark", 1);
	file_make("d/mark", 1);
	file_make("new/mark", 2);
	file_make("new/d/mark", 2);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		while (!change->asked)
			sched_yield();
		if (syscall(SYS_pivot_root, "/new", "/new/old"))
			_exit(1);
		change->done = 1;
		_exit(0);
	}
	COSY_START;
	for (int i = 0; i < 4; i++) {
		r += fstatat(AT_FDCWD, "/mark", &st, 0);
		r += fstatat(AT_FDCWD, "/d/mark", &deep, 0);
	}
	change->asked = 1;
	for (long i = 0; i < 20000000 && !done; i++) {
		done = change->done;
		r += fstatat(AT_FDCWD, "/mark", &st, 0);
		r += fstatat(AT_FDCWD, "/d/mark", &deep, 0);
	}
	COSY_END;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(done && !r, "pivot_root: done %u, %ld failed", done, r);
	CHECK(st.st_size == 2 && deep.st_size == 2, "sizes %lld, %lld", (long long)st.st_size,
	      (long long)deep.st_size);
}

int main(void)
{
	struct stat root, here;

	directory_enter();
	MUST(!mkdir("d", 0755) && !mkdir("d/e", 0755) && !mkdir("d/e/f", 0755) &&
	     !mkdir("d/e/f/g", 0755) && !mkdir("closed", 0755));
	file_make("d/x", 3);
	file_make("d/e/f/g/x", 4);
	file_make("closed/x", 5);
	MUST(!symlink("d", "to-d") && !symlink("nowhere", "dangling") && !chmod("closed", 0));
	all_names();
	if (!geteuid()) {
		setfsuid(65534);
		all_names();
		same_attribute();
		setfsuid(0);
	}
	same_attribute();
	answered("none", true);
	answered("d/e/none", true);
	answered("none/x", true);
	answered("d/x/none", false);
	answered("dangling", false);
	/* By the root where nothing is mounted on the way. */
	MUST(!stat("/", &root) && !stat(".", &here));
	if (root.st_dev == here.st_dev) {
		char path[256];

		snprintf(path, sizeof(path), "%s/none", check_directory);
		answered(path, true);
		snprintf(path, sizeof(path), "%s/none/x", check_directory);
		answered(path, true);
	}
	not_cached();
	CHECK_CHILD(in_child(removed_directory, NULL));
	changing();
	if (!geteuid()) {
		CHECK_CHILD(in_child(other_root, NULL));
		CHECK_CHILD(in_child(pivoted_root, NULL));
		rmdir("root");
	}
	MUST(!chmod("closed", 0755) && !unlink("closed/x") && !rmdir("closed") && !unlink("d/x") &&
	     !unlink("d/e/f/g/x") && !rmdir("d/e/f/g") && !rmdir("d/e/f") && !rmdir("d/e") &&
	     !rmdir("d") && !unlink("to-d") && !unlink("dangling"));
	directory_leave();
	return check_end();
}
