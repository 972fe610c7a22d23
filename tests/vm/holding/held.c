/* SPDX-License-Identifier: MIT */
/*
 * Changes a directory in the middle of what a region does with it, where holding.ko holds its thread.
 *
 * Between an entry and the permission to look there: the region asks for four names in their order, as nobody:
 * before the third permission the directory is closed, and before the fourth something is done to
 * what that name is, in the closed directory, which then is opened again.  So the region may have
 * what is there afterwards, and nothing that was there before.
 *
 * Between a directory on the way and the name in it: another directory takes its place, and then
 * the name is removed from the one that the region has reached.  At any time there is such a file.
 *
 * Between two entries of a scan: the directory is closed, so no more of them may be examined.
 *
 * Before each lock that is taken for the names: the entry that was found last goes to another
 * directory, where it has a neighbour of the next name.
 *
 * In a read: another process reads by the same position, and has to wait for it.  Or a hole is made
 * where the page is that was looked up with the one before.
 *
 * As root, on two processors.
 */
#include "../guest/guards.h"
#include "holding.h"
#include <cosy/fast.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/xattr.h>

/* Let others list and search, but not by a mode that cosy.ko decides about without inode_permission. */
enum { OPEN = 0705, CLOSED = 0 };
enum { NAMES = 4, LAST = NAMES - 1, PART = 8, MAX_TRIES = 100 };
enum { READS = 4, PAGE = 4096 };

/* In the order in which the directory has them: the one that was made last comes first. */
static const char *const names[NAMES] = { "d", "c", "b", "a" };
static const char *const target = "closed/a";

/* Shared with the process whose region it is. */
static struct answers {
	_Atomic bool goes;
	long results[NAMES], seen, refused, others;
	struct stat got[NAMES];
	char ours[PART], theirs[PART];
	_Atomic bool read;
	char pages[READS][PAGE];
} *answers;

/* --- What the region asks ----------------------------------------------------------------- */

static void ask_attributes(void)
{
	COSY_START;
	for (int i = 0; i < NAMES; i++)
		answers->results[i] = result_of(fstatat(AT_FDCWD, names[i], &answers->got[i], 0));
	COSY_END;
}

/* Asks about the last name twice: for what is kept of the third question, no entry is looked up. */
static void ask_again(void)
{
	char value[8];

	COSY_START;
	answers->results[0] = result_of(lstat(names[1], &answers->got[0]));
	answers->results[1] = result_of(lstat(names[2], &answers->got[1]));
	answers->results[2] = result_of(lstat(names[3], &answers->got[2]));
	answers->results[3] = result_of(lgetxattr(names[3], "user.none", value, sizeof(value)));
	COSY_END;
}

/* The first of these calls is an ordinary one. */
static void ask_on_the_way(void)
{
	COSY_START;
	for (int i = 0; i < NAMES; i++)
		answers->results[i] = result_of(lstat("way/in/a", &answers->got[i]));
	COSY_END;
}

/* Scans into the shared buffer, and counts entries by what is told of them. */
static void ask_scan(void)
{
	enum { SIZE = 4096 };
	char *buffer = cosy_malloc(SIZE);
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	ssize_t size, at = 0;

	MUST(buffer && dir >= 0);
	COSY_START;
	size = cosy_scan_dir(dir, buffer, SIZE, AT_SYMLINK_NOFOLLOW);
	COSY_END;
	while (at < size) {
		const struct cosy_dirent *entry = (void *)(buffer + at);

		if (entry->name[0] == '.')
			;
		else if (!entry->error)
			answers->seen++;
		else if (entry->error == -EACCES)
			answers->refused++;
		else
			answers->others++;
		at += entry->reclen;
	}
}

static int shared_file;

static void ask_read(void)
{
	COSY_START;
	answers->results[0] = read(shared_file, answers->ours, PART);
	COSY_END;
}

/* Reads one page after the other: those that follow the second are looked up with it. */
static void ask_pages(void)
{
	COSY_START;
	for (int i = 0; i < READS; i++)
		answers->results[i] = read(shared_file, answers->pages[i], PAGE);
	COSY_END;
}

static void region_run(void (*ask)(void))
{
	processor_take(0);
	MUST(!chdir("closed"));
	become_nobody(true);
	while (!answers->goes)
		sched_yield();
	ask();
	_exit(0);
}

/* --- What comes in between ---------------------------------------------------------------- */

static void nothing_done(void) {}

static void moved(void)
{
	MUST(!rename(target, "away"));
}

static void replaced(void)
{
	MUST(!rename("other", target));
}

static void mounted(void)
{
	MUST(!mount("other", target, NULL, MS_BIND, NULL));
}

static void file_make(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);

	MUST(fd >= 0 && !close(fd));
}

static void files_make(void)
{
	char path[32];

	MUST(!mkdir("closed", 0700));
	for (int i = LAST; i >= 0; i--) {
		snprintf(path, sizeof(path), "closed/%s", names[i]);
		file_make(path);
	}
	file_make("other");
	MUST(!chmod("closed", OPEN));
}

static void files_remove(void)
{
	char path[32];

	umount(target);
	for (int i = 0; i < NAMES; i++) {
		snprintf(path, sizeof(path), "closed/%s", names[i]);
		unlink(path);
	}
	unlink("other");
	unlink("away");
	CHECK(!rmdir("closed"), "closed is not empty: %s", strerror(errno));
}

static const char *const way[] = { "closed", "closed/way", "closed/way/in", "other", "other/in" };

/* The same file twice, on two ways. */
static void files_make_on_the_way(void)
{
	for (size_t i = 0; i < sizeof(way) / sizeof(*way); i++)
		MUST(!mkdir(way[i], 0711) && !chmod(way[i], 0711));
	file_make("closed/way/in/a");
	file_make("other/in/a");
}

static void files_remove_on_the_way(void)
{
	unlink("closed/way/in/a");
	for (size_t i = sizeof(way) / sizeof(*way); i-- > 0;)
		rmdir(way[i]);
	CHECK(access("closed", F_OK) && access("other", F_OK), "not all was removed");
}

static void file_gone(void)
{
	MUST(!unlink("other/in/a"));
}

static void directory_gone(void)
{
	MUST(!unlink("other/in/a") && !rmdir("other/in"));
}

/* --- Both --------------------------------------------------------------------------------- */

struct change {
	const char *name;
	void (*make)(void);
	bool unnoticed; /* the entry that the region has is the right one still */
};

static const struct change changes[] = {
	{ "nothing", nothing_done, true },
	{ "moved", moved, false },
	{ "replaced", replaced, false },
	{ "mounted on", mounted, false },
};

/* Starts a process whose region is held at the question `number` at `place`. */
static pid_t region_start(void (*ask)(void), enum place place, int number)
{
	pid_t pid;

	memset(answers, 0, sizeof(*answers));
	pid = child_start();
	if (!pid)
		region_run(ask);
	parameter_set(PARAMETERS "place", (int)place);
	parameter_set(PARAMETERS "until", number - 1);
	parameter_set(PARAMETERS "thread", pid);
	answers->goes = true;
	return pid;
}

/* Has a process's region run to that question. */
static pid_t region_hold(void (*ask)(void), enum place place, int number)
{
	pid_t pid = region_start(ask, place, number);

	WAIT_FOR(pid, parameter(PARAMETERS "asked") == number);
	return pid;
}

static void region_release(pid_t pid)
{
	parameter_set(PARAMETERS "until", INT_MAX);
	MUST(waitpid(pid, NULL, 0) == pid);
	CHECK(!parameter(PARAMETERS "late"), "the region was held for too long");
}

/* Has the region run, and the change made while its thread is held. */
static void change_between(const struct change *change, void (*ask)(void))
{
	pid_t pid = region_hold(ask, PLACE_PERMISSION, NAMES - 1);

	MUST(!chmod("closed", CLOSED));
	parameter_set(PARAMETERS "until", NAMES - 1);
	WAIT_FOR(pid, parameter(PARAMETERS "asked") == NAMES);
	change->make();
	MUST(!chmod("closed", OPEN));
	region_release(pid);
}

/*
 * Makes one change, and compares.  Returns how often the permission was asked for: NAMES + 1 says
 * that the last entry was at hand before it was, as all was asked anew from the beginning then.
 */
static int changed_once(const struct change *change, void (*ask)(void), const char *what)
{
	struct stat want = { 0 };
	char value[8];
	long result;

	files_make();
	change_between(change, ask);
	if (ask == ask_again)
		result = result_of(lgetxattr(target, "user.none", value, sizeof(value)));
	else
		result = result_of(stat(target, &want));
	CHECK(!answers->results[0] && !answers->results[1], "%s, %s: %ld and %ld while it was open",
	      what, change->name, answers->results[0], answers->results[1]);
	CHECK(answers->results[2] == -EACCES, "%s, %s: %ld when it was closed", what, change->name,
	      answers->results[2]);
	CHECK(answers->results[LAST] == result, "%s, %s: %ld, not %ld", what, change->name,
	      answers->results[LAST], result);
	CHECK(result || ask == ask_again || answers->got[LAST].st_ino == want.st_ino,
	      "%s, %s: another file", what, change->name);
	files_remove();
	return parameter(PARAMETERS "asked");
}

/* Makes a change, again where the region was interrupted, which forgets the entry found last. */
static void changed(const struct change *change, void (*ask)(void), const char *what)
{
	const int wanted = change->unnoticed ? NAMES : NAMES + 1;
	int asked = 0;

	for (int i = 0; i < MAX_TRIES && asked != wanted && !check_failures; i++)
		asked = changed_once(change, ask, what);
	CHECK(asked == wanted, "%s, %s: %d permissions asked", what, change->name, asked);
}

/*
 * Holds the region at the permission to search `reached`, a directory on its way, and exchanges that
 * for `other`, by which there is such a file, too.  Then what was reached loses what led to it.
 */
static void exchanged_on_the_way(const char *reached, const char *other, void (*old_empty)(void))
{
	struct stat want;
	pid_t pid;

	files_make_on_the_way();
	MUST(!chmod(reached, OPEN));
	pid = region_hold(ask_on_the_way, PLACE_PERMISSION, 2);
	MUST(!renameat2(AT_FDCWD, reached, AT_FDCWD, other, RENAME_EXCHANGE));
	old_empty();
	MUST(!stat("closed/way/in/a", &want));
	region_release(pid);
	for (int i = 0; i < NAMES; i++)
		CHECK(!answers->results[i], "%s exchanged: %ld", reached, answers->results[i]);
	CHECK(answers->got[LAST].st_ino == want.st_ino, "%s exchanged: another file", reached);
	files_remove_on_the_way();
}

/*
 * Moves the entry before the last one at the lock `number` that the region's calls take.  Returns
 * false if they take fewer.
 */
static bool moved_at_lock(int number)
{
	struct stat want;
	bool held;
	pid_t pid;

	files_make();
	MUST(!mkdir("elsewhere", 0700));
	file_make("elsewhere/a");
	MUST(!stat(target, &want));
	pid = region_start(ask_attributes, PLACE_LOCK, number);
	while (!(held = parameter(PARAMETERS "asked") == number) && !has_ended(pid))
		sched_yield();
	MUST(!rename("closed/b", "elsewhere/b"));
	region_release(pid);
	CHECK(!answers->results[LAST], "moved at lock %d: %ld", number, answers->results[LAST]);
	CHECK(answers->got[LAST].st_ino == want.st_ino, "moved at lock %d: another file", number);
	MUST(!unlink("elsewhere/a") && !unlink("elsewhere/b") && !rmdir("elsewhere"));
	files_remove();
	return held;
}

static void moved_at_each_lock(void)
{
	int number = 1;

	while (moved_at_lock(number))
		number++;
	CHECK(number > 1, "no lock is taken");
	parameter_set(PARAMETERS "place", PLACE_PERMISSION);
}

/* Closes the directory before the second of its entries that a scan examines. */
static void closed_between(void)
{
	pid_t pid;

	files_make();
	pid = region_hold(ask_scan, PLACE_ATTRIBUTES, 2);
	MUST(!chmod("closed", CLOSED));
	region_release(pid);
	CHECK(answers->seen == 2 && answers->refused == NAMES - 2 && !answers->others,
	      "%ld entries examined, %ld refused, %ld neither", answers->seen, answers->refused,
	      answers->others);
	files_remove();
}

/* Reads by the position of the file that the region is reading. */
static void read_between(void)
{
	static const char bytes[] = "0123456789abcdef";
	pid_t region, other;

	files_make();
	shared_file = open("other", O_RDWR);
	MUST(shared_file >= 0 && write(shared_file, bytes, 2 * PART) == 2 * PART);
	MUST(!lseek(shared_file, 0, SEEK_SET));
	region = region_hold(ask_read, PLACE_TRANSFER, 1);
	other = child_start();
	if (!other) {
		answers->results[1] = read(shared_file, answers->theirs, PART);
		answers->read = true;
		_exit(0);
	}
	WAIT_FOR(other, answers->read || is_blocked(other));
	region_release(region);
	MUST(waitpid(other, NULL, 0) == other);
	CHECK(answers->results[0] == PART && answers->results[1] == PART, "%ld and %ld bytes read",
	      answers->results[0], answers->results[1]);
	CHECK(!memcmp(answers->ours, bytes, PART), "the region read %.8s", answers->ours);
	CHECK(!memcmp(answers->theirs, bytes + PART, PART), "the other one read %.8s",
	      answers->theirs);
	close(shared_file);
	files_remove();
}

/* Makes a hole of a page that the region has looked up and not read. */
static void hole_between(void)
{
	static char full[PAGE], zeros[PAGE];
	pid_t region;

	files_make();
	memset(full, 'x', sizeof(full));
	shared_file = open("other", O_RDWR);
	MUST(shared_file >= 0);
	for (int i = 0; i < READS; i++)
		MUST(write(shared_file, full, PAGE) == PAGE);
	MUST(!lseek(shared_file, 0, SEEK_SET));
	region = region_hold(ask_pages, PLACE_TRANSFER, READS);
	MUST(!fallocate(shared_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (READS - 1) * PAGE,
			PAGE));
	region_release(region);
	for (int i = 0; i < READS; i++) {
		CHECK(answers->results[i] == PAGE, "read %d: %ld", i, answers->results[i]);
		CHECK(!memcmp(answers->pages[i], i < READS - 1 ? full : zeros, PAGE),
		      "read %d begins with %#x", i, answers->pages[i][0]);
	}
	close(shared_file);
	files_remove();
}

int main(void)
{
	holding_begin();
	answers = shared_memory(sizeof(*answers));
	directory_enter();
	MUST(!chmod(".", 0711));
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		changed(&changes[i], ask_attributes, "attributes");
		changed(&changes[i], ask_again, "again");
	}
	exchanged_on_the_way("closed/way/in", "other/in", file_gone);
	exchanged_on_the_way("closed/way", "other", directory_gone);
	moved_at_each_lock();
	closed_between();
	read_between();
	hole_between();
	directory_leave();
	return check_end();
}
