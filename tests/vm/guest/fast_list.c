/* SPDX-License-Identifier: MIT */
/*
 * Takes attributes of many names of a directory in a row: in its own order, backwards, in no order,
 * while another process changes it or forbids to search it, and of inodes whose attributes a file
 * system answers in a way of its own.  Results and bytes are those of the calls alone.  The names
 * lie outside the shared buffer, then in it.
 */
#include "guards.h"
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#define NAMES  48
#define ROUNDS 4

static int dir;
/* In the order in which the directory lists them; and one more. */
static char (*names)[64], names_outside[NAMES + 1][64];
static struct stat got[NAMES * ROUNDS];
static long results[NAMES * ROUNDS];
static int order[NAMES * ROUNDS];

/*
 * Makes names of lengths around those of words, with equal beginnings, one the beginning of
 * another.
 */
static void names_make(void)
{
	for (int i = 0; i < NAMES; i++) {
		char name[64];
		int fd, length = 3 + i % 30;

		memset(name, 'a' + i % 3, length);
		snprintf(name + length, sizeof(name) - length, "%02d", i);
		fd = openat(dir, name, O_CREAT | O_WRONLY, 0600 + i % 8);
		MUST(fd >= 0 && write(fd, name, i) == i && !close(fd));
	}
}

static void names_list(void)
{
	DIR *list = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY));
	struct dirent *entry;
	int count = 0;

	MUST(list);
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.' && count < NAMES)
			strcpy(names[count++], entry->d_name);
	MUST(count == NAMES && !closedir(list));
}

/*
 * Compares attributes of names[order[...]], all in one region; a number too high is no name there.
 */
static void order_compare(const char *what, int count)
{
	COSY_START;
	for (int i = 0; i < count; i++) {
		const char *name = order[i] < NAMES ? names[order[i]] : "missing";

		results[i] = fstatat(dir, name, &got[i], AT_SYMLINK_NOFOLLOW);
	}
	COSY_END;
	for (int i = 0; i < count; i++) {
		const char *name = order[i] < NAMES ? names[order[i]] : "missing";
		struct stat want = { 0 };
		long result = fstatat(dir, name, &want, AT_SYMLINK_NOFOLLOW);

		CHECK(results[i] == result, "%s, %d, %s: %ld, not %ld", what, i, name, results[i],
		      result);
		CHECK(result || !memcmp(&got[i], &want, sizeof(want)),
		      "%s, %d, %s: other attributes", what, i, name);
	}
}

static void orders(void)
{
	struct cosy_stats before = counts();
	unsigned int random = 1;
	int count = 0;

	for (int i = 0; i < NAMES; i++)
		order[i] = i;
	order_compare("forwards", NAMES);
	for (int i = 0; i < NAMES; i++)
		order[i] = NAMES - 1 - i;
	order_compare("backwards", NAMES);
	for (int i = 0; i < NAMES; i++)
		order[i] = i / 2 + i % 2 * 3 < NAMES ? i / 2 + i % 2 * 3 : NAMES;
	order_compare("by leaps", NAMES);
	for (int i = 0; i < NAMES; i++)
		order[count++] = i, order[count++] = i % 5 ? i : NAMES, order[count++] = i;
	order_compare("each several times, with one that is missing", count);
	for (int i = 0; i < NAMES * ROUNDS; i++)
		order[i] = (random = random * 1103515245 + 12345) / 65536 % (NAMES + 1);
	order_compare("at random", NAMES * ROUNDS);
	for (int i = 0; i < NAMES; i++)
		order[i] = i;
	MUST(!unlinkat(dir, names[7], 0));
	order_compare("forwards, with one that was removed", NAMES);
	close(openat(dir, names[7], O_CREAT | O_WRONLY, 0600));
	names_list();
	CHECK_FAST(before, 5 * NAMES);
}

/* --- Changed by another process -------------------------------------------------------- */

static void change_without_end(void)
{
	for (unsigned int i = 0;; i++) {
		const char *name = names[i % NAMES];

		renameat(dir, name, dir, "away");
		if (i % 3 == 0) {
			unlinkat(dir, "away", 0);
			close(openat(dir, name, O_CREAT | O_WRONLY, 0600));
		} else {
			close(openat(dir, "other", O_CREAT | O_WRONLY, 0600));
			unlinkat(dir, "other", 0);
			renameat(dir, "away", dir, name);
		}
		if (getppid() == 1)
			_exit(0);
	}
}

/*
 * Checks that each name is there or not, never another kind of thing, and that nothing is kept for
 * good.
 */
static void changing(void)
{
	long found = 0, missing = 0, other = 0;
	pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid)
		change_without_end();
	for (int round = 0; round < 200; round++) {
		COSY_START;
		for (int i = 0; i < NAMES; i++) {
			struct stat st;

			if (!fstatat(dir, names[i], &st, 0)) {
				if (S_ISREG(st.st_mode) && st.st_nlink <= 1)
					found++;
				else
					other++;
			} else if (errno == ENOENT) {
				missing++;
			} else {
				other++;
			}
		}
		COSY_END;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(found && !other, "changing: %ld found, %ld missing, %ld otherwise", found, missing,
	      other);
	for (int i = 0; i < NAMES; i++)
		close(openat(dir, names[i], O_CREAT | O_WRONLY, 0600));
	unlinkat(dir, "away", 0);
	unlinkat(dir, "other", 0);
	names_list();
}

/* --- Forbidden by another process ------------------------------------------------------- */

/* Shared with that process. */
struct search {
	_Atomic long changes; /* odd: one is under way */
	_Atomic bool allowed;
};

static void forbid_without_end(struct search *search)
{
	for (;;) {
		search->changes++;
		fchmod(dir, search->allowed ? 0600 : 0700);
		search->allowed = !search->allowed;
		search->changes++;
		usleep(300);
		if (getppid() == 1)
			_exit(0);
	}
}

/* Looks at all names, and counts those whose answer is not what the directory's mode says. */
static void forbidden(void *unused)
{
	long allowed = 0, denied = 0, wrong = 0;
	struct search *search = shared_memory(sizeof(*search));
	pid_t pid;

	(void)unused;
	become_nobody(true);
	search->allowed = true;
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		forbid_without_end(search);
	for (int round = 0; round < 100 || ((!allowed || !denied) && round < 100000); round++) {
		COSY_START;
		for (int i = 0; i < NAMES; i++) {
			long changes = search->changes;
			bool may = search->allowed;
			struct stat st;
			long result = fstatat(dir, names[i], &st, 0);

			if (changes % 2 || changes != search->changes)
				continue;
			if (result ? may || errno != EACCES : !may)
				wrong++;
			else if (result)
				denied++;
			else
				allowed++;
		}
		COSY_END;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(allowed && denied && !wrong, "forbidden: %ld allowed, %ld denied, %ld wrong", allowed,
	      denied, wrong);
}

/* --- What a file system answers by itself ------------------------------------------------ */

static struct stat twice[2];

/*
 * Compares a file, the newest of the directory, by itself with the same after others, from either
 * end of the list: it is the neighbour of the last ones.
 */
static void inode_compare_by(const char *what, int flags)
{
	const char *name = names[NAMES];
	struct stat want = { 0 };
	long result = -1;

	COSY_START;
	fstatat(dir, names[2], &got[0], 0);
	fstatat(dir, names[1], &got[1], 0);
	fstatat(dir, names[0], &got[2], 0);
	result = fstatat(dir, name, &twice[0], flags);
	fstatat(dir, names[NAMES - 3], &got[3], 0);
	fstatat(dir, names[NAMES - 2], &got[4], 0);
	fstatat(dir, names[NAMES - 1], &got[5], 0);
	result += fstatat(dir, name, &twice[1], flags);
	COSY_END;
	CHECK(!fstatat(dir, name, &want, flags) && !result, "%s: %ld", what, result);
	for (int i = 0; i < 2; i++)
		CHECK(!memcmp(&twice[i], &want, sizeof(want)),
		      "%s: %lld blocks of %ld bytes, size %lld, mode %o; wanted %lld of %ld, size "
		      "%lld, mode %o",
		      what, (long long)twice[i].st_blocks, (long)twice[i].st_blksize,
		      (long long)twice[i].st_size, twice[i].st_mode, (long long)want.st_blocks,
		      (long)want.st_blksize, (long long)want.st_size, want.st_mode);
}

static void inode_compare(const char *what, const char *name)
{
	strcpy(names[NAMES], name);
	inode_compare_by(what, AT_SYMLINK_NOFOLLOW);
	inode_compare_by(what, 0);
}

static void inodes(void)
{
	struct timespec times[2] = { { 1, 999999999 }, { -5, 1 } };
	int fd = openat(dir, "inode", O_CREAT | O_RDWR, 0666);
	char *map;

	MUST(fd >= 0);
	inode_compare("an empty file", "inode");
	MUST(!ftruncate(fd, 1 << 20));
	inode_compare("a hole", "inode");
	map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(map != MAP_FAILED);
	/*
	 * The kernel drops pages of zeros that nobody has written to; tmpfs counts them when it is
	 * asked.
	 */
	for (int i = 16; i < 80; i++)
		(void)*(volatile char *)(map + (i << 12));
	inode_compare("a hole that was read through a mapping", "inode");
	madvise(map, 1 << 20, MADV_PAGEOUT);
	inode_compare("a hole whose pages are gone again", "inode");
	map[5 << 12] = 1;
	inode_compare("a page by a mapping", "inode");
	MUST(pwrite(fd, map, 9999, 300000) == 9999);
	inode_compare("pages by writing", "inode");
	if (!fallocate(fd, 0, 0, 1 << 20))
		inode_compare("preallocated", "inode");
	if (!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 1 << 19))
		inode_compare("punched", "inode");
	madvise(map, 1 << 20, MADV_PAGEOUT);
	inode_compare("paged out, where there is swap", "inode");
	MUST(!ftruncate(fd, 1));
	inode_compare("truncated", "inode");
	MUST(!futimens(fd, times));
	inode_compare("times of long ago", "inode");
	MUST(!fchmod(fd, 06711));
	inode_compare("set-user-ID", "inode");
	if (!geteuid() && !fchown(fd, 12345, 54321))
		inode_compare("of somebody else", "inode");
	MUST(!linkat(dir, "inode", dir, "second", 0));
	inode_compare("two names", "second");
	MUST(!unlinkat(dir, "second", 0) && !unlinkat(dir, "inode", 0) && !munmap(map, 1 << 20) &&
	     !close(fd));
	MUST(!symlinkat(names[3], dir, "inode"));
	inode_compare("a symbolic link", "inode");
	MUST(!unlinkat(dir, "inode", 0) && !mkdirat(dir, "inode", 01777));
	inode_compare("a directory", "inode");
	if (!geteuid() && !mount("none", "names/inode", "tmpfs", 0, NULL)) {
		inode_compare("a directory that is mounted on", "inode");
		MUST(!umount("names/inode"));
	}
	MUST(!unlinkat(dir, "inode", AT_REMOVEDIR) && !mkfifoat(dir, "inode", 0600));
	inode_compare("a pipe", "inode");
	MUST(!unlinkat(dir, "inode", 0));
	if (!geteuid() && !mknodat(dir, "inode", S_IFCHR | 0600, makedev(300, 70000))) {
		inode_compare("a device", "inode");
		MUST(!unlinkat(dir, "inode", 0));
	}
}

#define SETTING "/sys/kernel/mm/transparent_hugepage/shmem_enabled"

/* Huge pages show in st_blksize: by a mount's option, and by a setting that changes meanwhile. */
static void huge(void)
{
	static const char *const forced = "force", *const not_forced = "never";
	uint32_t extended[12] = { 0 };
	int fd, outer = dir;

	if (geteuid() || mkdir("huge", 0700) || mount("none", "huge", "tmpfs", 0, "huge=always")) {
		printf("no file system of huge pages: not tested\n");
		rmdir("huge");
		return;
	}
	dir = open("huge", O_RDONLY | O_DIRECTORY);
	names_make();
	names_list();
	inodes();
	orders();
	close(dir);
	CHECK(!umount("huge") && !rmdir("huge"), "the mount is still in use");
	dir = outer;
	names_list();

	fd = open(SETTING, O_WRONLY);
	if (fd < 0)
		return;
	COSY_START;
	for (int i = 0; i < 6; i++) {
		struct statx stx;

		fstatat(dir, names[i], &got[i], 0);
		statx(dir, names[i], 0, STATX_BASIC_STATS, &stx);
		extended[i] = stx.stx_blksize;
	}
	write(fd, forced, 5);
	for (int i = 6; i < 12; i++) {
		struct statx stx;

		fstatat(dir, names[i], &got[i], 0);
		statx(dir, names[i], 0, STATX_BASIC_STATS, &stx);
		extended[i] = stx.stx_blksize;
	}
	write(fd, not_forced, 5);
	for (int i = 12; i < 18; i++)
		fstatat(dir, names[i], &got[i], 0);
	COSY_END;
	MUST(write(fd, forced, 5) == 5);
	for (int i = 0; i < 6; i++) {
		struct stat st;

		MUST(!fstatat(dir, names[i + 6], &st, 0));
		CHECK(st.st_blksize == got[i + 6].st_blksize && st.st_blksize == extended[i + 6],
		      "forced: %ld and %u, not %ld", (long)got[i + 6].st_blksize, extended[i + 6],
		      (long)st.st_blksize);
		CHECK(got[i].st_blksize == extended[i], "not forced: %u, not %ld", extended[i],
		      (long)got[i].st_blksize);
		CHECK(got[i].st_blksize == got[i + 12].st_blksize, "not forced: %ld, then %ld",
		      (long)got[i].st_blksize, (long)got[i + 12].st_blksize);
	}
	MUST(write(fd, not_forced, 5) == 5 && !close(fd));
}

/* Unmounts a file system once its directory is closed, whatever was found there last. */
static void unmounted(void)
{
	int outer = dir;

	if (geteuid())
		return;
	MUST(!mkdir("mount", 0700) && !mount("none", "mount", "tmpfs", 0, NULL));
	dir = open("mount", O_RDONLY | O_DIRECTORY);
	names_make();
	names_list();
	for (int i = 0; i < NAMES; i++)
		order[i] = i;
	order_compare("on a mount", NAMES);
	long closed = -1, gone = -1;

	COSY_START;
	for (int i = 0; i < 8; i++)
		fstatat(dir, names[i], &got[i], 0);
	closed = close(dir);
	gone = umount2("mount", 0);
	COSY_END;
	CHECK(!closed && !gone, "close %ld, umount %ld", closed, gone);
	CHECK(!rmdir("mount"), "rmdir");
	dir = outer;
	names_list();
}

static void all(void)
{
	names_make();
	names_list();
	orders();
	inodes();
	changing();
	/* Whoever the directory belongs to may make it, and search it again. */
	MUST(!fchmod(dir, 0700) && (geteuid() || !fchown(dir, 65534, 65534)));
	CHECK_CHILD(in_child(forbidden, NULL));
	MUST((geteuid() || !fchown(dir, 0, 0)) && !fchmod(dir, 0700));
	huge();
	unmounted();
	for (int i = 0; i < NAMES; i++)
		unlinkat(dir, names[i], 0);
}

int main(void)
{
	directory_enter();
	MUST(!mkdir("names", 0700));
	dir = open("names", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	names = names_outside;
	all();
	names = cosy_malloc(sizeof(names_outside));
	MUST(names);
	all();
	CHECK(!rmdir("names"), "cleaning up");
	directory_leave();
	return check_end();
}
