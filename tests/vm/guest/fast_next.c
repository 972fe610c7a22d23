/* SPDX-License-Identifier: MIT */
/*
 * Takes attributes of names in their directory's order, where the next entry is not the one that is
 * asked for: names of another directory or file system, by a path or a descriptor, names that begin
 * as the entry's does, and names that another process removes.  The names lie outside the shared
 * buffer, then in it.
 */
#include "guards.h"
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/xattr.h>

enum { NAMES = 16, ROUNDS = 300, MAX_SPINS = 20000, SIZE = 64 };

/* The same names in each: the current directory, one below it, and one of another file system. */
static const char *const places[] = { ".", "below", "other" };
static int dirs[3];
/* In the order in which each directory lists them; by themselves, and as paths. */
static char (*names)[SIZE], (*paths)[SIZE], outside[2][NAMES][SIZE];
static struct stat got[NAMES];
static long results[NAMES];

/* Makes names of lengths around those of words. */
static void names_make(int dir, int bytes)
{
	for (int i = 0; i < NAMES; i++) {
		char name[SIZE];
		int fd;

		memset(name, 'a' + i, i + 1);
		name[i + 1] = 0;
		fd = openat(dir, name, O_CREAT | O_WRONLY, 0600);
		MUST(fd >= 0 && !ftruncate(fd, bytes) && !close(fd));
		/* The last one that was made is listed first. */
		strcpy(names[NAMES - 1 - i], name);
		snprintf(paths[NAMES - 1 - i], SIZE, "%s/%s", places[1], name);
	}
}

/* Compares what the region found with what the calls alone find. */
static void compare(const char *what, int i, int dir, const char *name)
{
	struct stat want = { 0 };
	long result = fstatat(dir, name, &want, 0);

	CHECK(results[i] == result, "%s, %s: %ld, not %ld", what, name, results[i], result);
	CHECK(result || !memcmp(&got[i], &want, sizeof(want)), "%s, %s: another file", what, name);
}

/* Goes through one directory, and asks now and then for the next name in another. */
static void by_descriptor(int a, int b)
{
	COSY_START;
	for (int i = 0; i < NAMES; i++)
		results[i] = fstatat(dirs[i % 4 == 3 ? b : a], names[i], &got[i], 0);
	COSY_END;
	for (int i = 0; i < NAMES; i++)
		compare("another directory", i, dirs[i % 4 == 3 ? b : a], names[i]);
}

/* Does so with paths into one, and names in the current directory. */
static void by_path(void)
{
	COSY_START;
	for (int i = 0; i < NAMES; i++)
		results[i] = fstatat(AT_FDCWD, i % 4 == 3 ? names[i] : paths[i], &got[i], 0);
	COSY_END;
	for (int i = 0; i < NAMES; i++)
		compare("no path", i, AT_FDCWD, i % 4 == 3 ? names[i] : paths[i]);
	COSY_START;
	for (int i = 0; i < NAMES; i++)
		results[i] = fstatat(AT_FDCWD, i % 4 == 3 ? paths[i] : names[i], &got[i], 0);
	COSY_END;
	for (int i = 0; i < NAMES; i++)
		compare("a path", i, AT_FDCWD, i % 4 == 3 ? paths[i] : names[i]);
}

/* Asks for names of which the next entry's is the beginning: no such name is there. */
static void longer(void)
{
	long found = 0, wrong = 0;

	for (int i = 3; i < NAMES; i += 4)
		strcat(names[i], "+");
	COSY_START;
	for (int i = 0; i < NAMES; i++) {
		long result = fstatat(dirs[0], names[i], &got[i], 0);

		if (i % 4 == 3)
			wrong += result != -1 || errno != ENOENT;
		else
			found += !result;
	}
	COSY_END;
	CHECK(found == NAMES / 4 * 3 && !wrong, "%ld found, %ld that are not there", found, wrong);
	for (int i = 3; i < NAMES; i += 4)
		names[i][strlen(names[i]) - 1] = 0;
}

/* --- Removed between two calls about it -------------------------------------------------- */

/* Shared with the process that removes. */
struct turn {
	_Atomic int asked, done; /* rounds */
};

static void remove_without_end(struct turn *turn, const char *name)
{
	for (int round = 1;; round++) {
		while (turn->asked < round)
			if (getppid() == 1)
				_exit(0);
		unlinkat(dirs[0], name, 0);
		turn->done = round;
	}
}

/* Asks about a file again, in the same region, once another process has removed it. */
static void removed(void)
{
	static struct turn *turn;
	long late = 0, removed = 0;
	const char *name = names[1];
	pid_t pid;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		printf("nobody removes anything meanwhile with one processor: not tested\n");
		return;
	}
	if (!turn)
		turn = shared_memory(sizeof(*turn));
	turn->asked = turn->done = 0;
	pid = child_start();
	if (!pid)
		remove_without_end(turn, name);
	for (int round = 1; round <= ROUNDS || (!removed && round < 100 * ROUNDS); round++) {
		char value[8];
		int error = 0;

		COSY_START;
		lstat(names[3], &got[0]);
		lstat(names[2], &got[1]);
		lstat(name, &got[2]);
		turn->asked = round;
		for (int i = 0; i < MAX_SPINS && turn->done != round; i++)
			;
		if (turn->done == round && lgetxattr(name, "user.none", value, sizeof(value)) < 0)
			error = errno;
		COSY_END;
		removed += error != 0;
		late += error && error != ENOENT;
		while (turn->done != round)
			usleep(100);
		close(openat(dirs[0], name, O_CREAT | O_WRONLY, 0600));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(removed && !late, "%ld removed in time, %ld there afterwards", removed, late);
}

/* --- Large pages by a file's size --------------------------------------------------------- */

/*
 * A file system whose large files alone have huge pages: st_blksize tells, and a small one that was
 * asked about first says nothing of them.
 */
static void within_size(void)
{
	int dir, fd;

	if (geteuid() || mkdir("huge", 0700) ||
	    mount("none", "huge", "tmpfs", 0, "huge=within_size")) {
		printf("no file system of huge pages: not tested\n");
		rmdir("huge");
		return;
	}
	dir = dirs[0];
	dirs[0] = open("huge", O_RDONLY | O_DIRECTORY);
	names_make(dirs[0], 100);
	fd = openat(dirs[0], names[NAMES - 1], O_WRONLY);
	MUST(dirs[0] >= 0 && fd >= 0 && !ftruncate(fd, 8 << 20) && !close(fd));
	by_descriptor(0, 0);
	close(dirs[0]);
	CHECK(!umount("huge") && !rmdir("huge"), "the mount is still in use");
	dirs[0] = dir;
}

static void all(void)
{
	struct cosy_stats before = counts();

	for (int i = 0; i < 3; i++)
		names_make(dirs[i], 100 * i);
	for (int a = 0; a < 3; a++)
		for (int b = 0; b < 3; b++)
			by_descriptor(a, b);
	by_path();
	longer();
	CHECK_FAST(before, 6 * NAMES);
	removed();
	within_size();
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < NAMES; k++)
			unlinkat(dirs[i], names[k], 0);
}

int main(void)
{
	bool mounted = false;

	directory_enter();
	MUST(!mkdir(places[1], 0700) && !mkdir(places[2], 0700));
	if (!geteuid())
		MUST(!mount("none", places[2], "tmpfs", 0, NULL) && (mounted = true));
	for (int i = 0; i < 3; i++)
		MUST((dirs[i] = open(places[i], O_RDONLY | O_DIRECTORY)) >= 0);
	names = outside[0];
	paths = outside[1];
	all();
	names = cosy_malloc(sizeof(outside));
	MUST(names);
	paths = names + NAMES;
	all();
	for (int i = 0; i < 3; i++)
		close(dirs[i]);
	CHECK(!mounted || !umount(places[2]), "umount");
	CHECK(!rmdir(places[1]) && !rmdir(places[2]), "cleaning up");
	directory_leave();
	return check_end();
}
