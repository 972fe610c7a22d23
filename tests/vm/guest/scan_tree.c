/* SPDX-License-Identifier: MIT */
/*
 * Goes through trees by scan_tree: all ways of scan_tree.h tell what fts tells, byte for byte, and
 * what cannot be gone through is told.
 */
#include "scan_tree.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

enum { LEVELS = 5000 };

/* --- As fts tells ----------------------------------------------------------------------------- */

struct line {
	char path[320];
	struct stat st;
};

enum { MAX_LINES = 20000 };
static struct line *mine, *other;
static size_t mine_count, other_count;

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->path, ((const struct line *)b)->path);
}

/* Makes lines of what was told: directories in the order in which they were entered or left. */
static void lines_of_stream(struct line *dirs, size_t *dir_count, int kind)
{
	static char path[32][300];

	*dir_count = mine_count = 0;
	for (size_t at = 0, depth = 0; at < told; at += told_at(at)->reclen) {
		struct cosy_dirent *entry = told_at(at);

		if (entry->kind == COSY_TREE_ENTER || entry->kind == COSY_TREE_LEAVE) {
			depth = (size_t)entry->off;
			MUST(depth < 32);
			if (depth)
				snprintf(path[depth], sizeof(path[0]), "%.200s/%.90s",
					 path[depth - 1], entry->name);
			else
				strcpy(path[0], entry->name);
			if (entry->kind == kind)
				strcpy(dirs[(*dir_count)++].path, path[depth]);
			continue;
		}
		CHECK(entry->kind == COSY_TREE_ENTRY && !entry->error, "%s: kind %d, error %d",
		      entry->name, entry->kind, entry->error);
		if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
			continue;
		MUST(mine_count < MAX_LINES);
		snprintf(mine[mine_count].path, sizeof(mine->path), "%s/%.90s", path[depth],
			 entry->name);
		memcpy(&mine[mine_count++].st, entry->stat, sizeof(struct stat));
	}
	qsort(mine, mine_count, sizeof(*mine), by_path);
}

static void lines_of_fts(struct line *dirs, size_t *dir_count, int kind, uint32_t depth)
{
	char *paths[] = { (char *)".", NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_XDEV, NULL);
	FTSENT *entry;

	MUST(fts);
	*dir_count = other_count = 0;
	while ((entry = fts_read(fts))) {
		if (entry->fts_info == (kind == COSY_TREE_ENTER ? FTS_D : FTS_DP) &&
		    (!depth || entry->fts_level < (int)depth))
			strcpy(dirs[(*dir_count)++].path, entry->fts_path);
		if (entry->fts_info == FTS_DP || !entry->fts_level)
			continue;
		if (depth && entry->fts_level > (int)depth)
			continue;
		MUST(other_count < MAX_LINES);
		strcpy(other[other_count].path, entry->fts_path);
		other[other_count++].st = *entry->fts_statp;
	}
	MUST(!fts_close(fts));
	qsort(other, other_count, sizeof(*other), by_path);
}

static void compare_with_fts(const char *what, uint32_t depth, int kind)
{
	static struct line dirs[2][4000];
	size_t count[2];

	lines_of_stream(dirs[0], &count[0], kind);
	lines_of_fts(dirs[1], &count[1], kind, depth);
	CHECK(count[0] == count[1], "%s: %zu directories, fts %zu", what, count[0], count[1]);
	for (size_t i = 0; i < count[0] && i < count[1]; i++)
		CHECK(!strcmp(dirs[0][i].path, dirs[1][i].path), "%s: directory %zu is %s, not %s",
		      what, i, dirs[0][i].path, dirs[1][i].path);
	CHECK(mine_count == other_count, "%s: %zu entries, fts %zu", what, mine_count, other_count);
	for (size_t i = 0; i < mine_count && i < other_count; i++)
		CHECK(!by_path(&mine[i], &other[i]) &&
			      !memcmp(&mine[i].st, &other[i].st, sizeof(struct stat)),
		      "%s: entry %s, not %s, or other attributes", what, mine[i].path,
		      other[i].path);
}

static void test_as_fts(void)
{
	static const size_t sizes[] = { COSY_TREE_MIN_BUFFER, 4096, BUFFER };
	static const uint32_t depths[] = { 0, 1, 2, 3 };
	static char *first, private[BUFFER] __attribute__((aligned(8)));
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	struct cosy_tree *there = tree, *here = malloc(SPACE);
	long before = free_descriptor();
	size_t first_told = 0;
	char what[64];

	MUST(here && (first = malloc(STREAM)));
	listings_leave_times(".");
	for (size_t way = 0; way < COUNT(ways); way++)
		for (size_t i = 0; i < COUNT(sizes) * COUNT(depths) * 2; i++) {
			size_t size = sizes[i % COUNT(sizes)];
			uint32_t depth = depths[i / COUNT(sizes) % COUNT(depths)];
			bool apart = i >= COUNT(sizes) * COUNT(depths);
			struct cosy_stats then = counts();

			scan = ways[way].scan;
			snprintf(what, sizeof(what), "%s, %zu bytes, depth %u", ways[way].name,
				 size, depth);
			tree = apart ? here : there;
			tree_begin(dir, apart ? COSY_TREE_POST : 0, depth);
			CHECK(!tree_walk(apart ? private : shared, size, -1), "%s", what);
			CHECK(free_descriptor() == before, "%s: a descriptor was left", what);
			CHECK(scan(tree, apart ? private : shared, size) == 0, "%s: goes on", what);
			compare_with_fts(what, depth, apart ? COSY_TREE_LEAVE : COSY_TREE_ENTER);
			if (way == 1)
				CHECK_KERNEL(then, 1, 1);
			if (i == COUNT(sizes) * COUNT(depths)) {
				/* The first way's bytes are all ways' bytes. */
				if (!way) {
					memcpy(first, stream, told);
					first_told = told;
				}
				CHECK(told == first_told && !memcmp(first, stream, told),
				      "%s: other bytes", what);
			}
		}
	tree = there;
	free(here);
	free(first);
	close(dir);
}

/* --- What cannot be gone through ------------------------------------------------------------- */

static void test_errors(void)
{
	int dir = open("links", O_RDONLY | O_DIRECTORY), file = open("file", O_RDONLY);

	/* Nothing is entered through a link, nor is a file. */
	tree_begin(dir, 0, 0);
	CHECK(!tree_walk(shared, BUFFER, -1) && count_told(COSY_TREE_ENTER, 0) == 1 &&
		      !count_told(COSY_TREE_FAILED, 0) && count_told(COSY_TREE_ENTRY, 0) == 5,
	      "links: %zu bytes", told);
	tree_begin(file, 0, 0);
	CHECK(!tree_walk(shared, BUFFER, -1) && count_told(COSY_TREE_FAILED, -ENOTDIR) == 1,
	      "a file: %zu bytes", told);
	tree_begin(dir, 0, 0);
	tree->dirfd = 999;
	CHECK(scan(tree, shared, BUFFER) == -EBADF, "no descriptor");
	tree->dirfd = dir;
	CHECK(scan(tree, shared, COSY_TREE_MIN_BUFFER - 1) == -EINVAL, "a small buffer");
	tree->size = COSY_TREE_MIN_SIZE - 1;
	CHECK(scan(tree, shared, BUFFER) == -EINVAL, "a small tree");
	tree->size = SPACE;
	tree->flags = 1 << 8;
	CHECK(scan(tree, shared, BUFFER) == -EINVAL, "an unknown flag");
	tree->flags = 0;
	CHECK(!scan(tree, NULL, 0), "ended before it began");
	tree->step = 1000;
	CHECK(scan(tree, shared, BUFFER) == -EINVAL, "an unknown step");
	if (scan == scan_in_kernel) {
		tree_begin(dir, 0, 0);
		CHECK(scan(tree, NULL, BUFFER) == -EFAULT, "no buffer");
		CHECK(scan(NULL, shared, BUFFER) == -EFAULT, "no tree");
		CHECK(scan((void *)-4096, shared, BUFFER) == -EFAULT, "a kernel's tree");
		CHECK(scan(tree, (void *)-65536, BUFFER) == -EFAULT, "a kernel's buffer");
	}
	close(dir);
	close(file);
}

/* Ends walks early: descriptors are closed, wherever the walk is. */
static void test_ended(void)
{
	int dir = open("deep", O_RDONLY | O_DIRECTORY);
	long before = free_descriptor();

	for (int calls = 1; calls < 60; calls++) {
		tree_begin(dir, COSY_TREE_POST, 0);
		if (tree_walk(shared, COSY_TREE_MIN_BUFFER, calls) <= 0)
			break;
		CHECK(free_descriptor() <= before + COSY_TREE_OPEN, "%ld descriptors",
		      free_descriptor() - before);
		CHECK(!scan(tree, shared, 0) && free_descriptor() == before,
		      "ended after %d calls: descriptors are left", calls);
		CHECK(!scan(tree, shared, BUFFER), "an ended walk goes on");
	}
	close(dir);
}

/* Gives a tree too little room at first. */
static void test_room(void)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	long bytes, refused = 0;
	size_t plain;

	tree_begin(dir, COSY_TREE_POST, 0);
	CHECK(!tree_walk(shared, BUFFER, -1), "the walk");
	plain = told;
	tree_begin(dir, COSY_TREE_POST, 0);
	tree->size = COSY_TREE_MIN_SIZE;
	while ((bytes = tree_walk(shared, BUFFER, -1)) == -ENOBUFS) {
		refused++;
		tree->size += 64;
	}
	CHECK(!bytes && told == plain && refused > 3, "%ld, %zu bytes of %zu, refused %ld times",
	      bytes, told, plain, refused);
	close(dir);
}

/* Gives a tree no room for the names of a directory: nothing is written beyond its size. */
static void test_room_of_names(void)
{
	enum { NAMES = 40, REST = 64 << 10, CANARY = 0x5a };
	char name[240];
	int dir;

	MUST(!mkdir("wide", 0700) && (dir = open("wide", O_RDONLY | O_DIRECTORY)) >= 0);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%0200d", i);
		MUST(!mkdirat(dir, name, 0700));
	}
	for (size_t way = 0; way < COUNT(ways); way++) {
		char *beyond = (char *)tree + COSY_TREE_MIN_SIZE;
		size_t changed = 0;

		scan = ways[way].scan;
		tree_begin(dir, 0, 0);
		tree->size = COSY_TREE_MIN_SIZE;
		memset(beyond, CANARY, REST);
		CHECK(tree_walk(shared, BUFFER, -1) == -ENOBUFS, "%s: room for all names",
		      ways[way].name);
		for (size_t i = 0; i < REST; i++)
			changed += beyond[i] != CANARY;
		CHECK(!changed, "%s: %zu bytes beyond the tree are written", ways[way].name,
		      changed);
	}
	close(dir);
	MUST(!system("rm -rf wide"));
}

/* Goes down 5,000 levels with 40 descriptors. */
static void deep(void)
{
	int dir = open("abyss", O_RDONLY | O_DIRECTORY);
	struct rlimit few, usual;
	size_t at;
	long want = 0;

	MUST(!getrlimit(RLIMIT_NOFILE, &usual));
	few = usual;
	few.rlim_cur = 40;
	MUST(!setrlimit(RLIMIT_NOFILE, &few));
	tree_begin(dir, COSY_TREE_POST, 0);
	CHECK(!tree_walk(shared, BUFFER, -1), "the abyss");
	CHECK(count_told(COSY_TREE_ENTER, 0) == LEVELS + 1 &&
		      count_told(COSY_TREE_LEAVE, 0) == LEVELS + 1 &&
		      !count_told(COSY_TREE_FAILED, 0),
	      "%ld levels, left %ld, failed %ld", count_told(COSY_TREE_ENTER, 0),
	      count_told(COSY_TREE_LEAVE, 0), count_told(COSY_TREE_FAILED, 0));
	for (at = 0; at < told; at += told_at(at)->reclen)
		if (told_at(at)->kind == COSY_TREE_ENTER)
			CHECK(told_at(at)->off == want++, "depth %lld",
			      (long long)told_at(at)->off);
	MUST(!setrlimit(RLIMIT_NOFILE, &usual));
	close(dir);
}

static void test_deep(void)
{
	int dir, next, top = open(".", O_RDONLY | O_DIRECTORY);

	MUST(!mkdir("abyss", 0700) && (dir = open("abyss", O_RDONLY | O_DIRECTORY)) >= 0);
	for (int i = 0; i < LEVELS; i++) {
		MUST(!mkdirat(dir, "d", 0700) &&
		     (next = openat(dir, "d", O_RDONLY | O_DIRECTORY)) >= 0);
		close(dir);
		dir = next;
	}
	for (size_t way = 0; way < COUNT(ways); way++) {
		scan = ways[way].scan;
		deep();
	}
	MUST(!fchdir(dir));
	for (int i = 0; i < LEVELS; i++)
		MUST(!chdir("..") && !rmdir("d"));
	MUST(!fchdir(top) && !rmdir("abyss"));
	close(dir);
	close(top);
}

/* Runs as a user who may not open one directory, and may list but not search another. */
static void forbidden(void *unused)
{
	int dir;

	(void)unused;
	become_nobody(true);
	begin();
	MUST(!mkdir("mine", 0700) && !mkdir("mine/closed", 0700) && !mkdir("mine/closed/x", 0700) &&
	     !mkdir("mine/listed", 0700) && !mkdir("mine/listed/y", 0700) &&
	     !mkdir("mine/open", 0700) && !mkdir("mine/open/z", 0700) && !chmod("mine/closed", 0) &&
	     !chmod("mine/listed", 0400));
	MUST((dir = open("mine", O_RDONLY | O_DIRECTORY)) >= 0);
	for (size_t way = 0; way < COUNT(ways); way++) {
		scan = ways[way].scan;
		tree_begin(dir, COSY_TREE_POST, 0);
		CHECK(!tree_walk(shared, BUFFER, -1), "the walk");
		CHECK(count_told(COSY_TREE_FAILED, -EACCES) == 2 &&
			      count_told(COSY_TREE_FAILED, 0) == 2 &&
			      count_told(COSY_TREE_ENTER, 0) == 4 &&
			      count_told(COSY_TREE_LEAVE, 0) == 4 &&
			      count_told(COSY_TREE_ENTRY, -EACCES) == 3,
		      "%s: %ld failed, %ld entered, %ld left, %ld not examined", ways[way].name,
		      count_told(COSY_TREE_FAILED, 0), count_told(COSY_TREE_ENTER, 0),
		      count_told(COSY_TREE_LEAVE, 0), count_told(COSY_TREE_ENTRY, -EACCES));
	}
	MUST(!chmod("mine/closed", 0700) && !chmod("mine/listed", 0700) && !system("rm -rf mine"));
}

/* Mounts another file system in the tree: entered only when asked for. */
static void mounted(void *unused)
{
	long entered;
	int dir;

	(void)unused;
	begin();
	MUST(!unshare(CLONE_NEWNS) && !mount("", "/", "", MS_REC | MS_PRIVATE, NULL));
	dir = open(".", O_RDONLY | O_DIRECTORY);
	MUST(!mkdir("mnt", 0700) && !mount("none", "mnt", "tmpfs", 0, NULL) &&
	     !mkdir("mnt/in", 0700));
	for (size_t way = 0; way < COUNT(ways); way++) {
		scan = ways[way].scan;
		tree_begin(dir, 0, 0);
		CHECK(!tree_walk(shared, BUFFER, -1) && !count_told(COSY_TREE_FAILED, 0), "xdev");
		entered = count_told(COSY_TREE_ENTER, 0);
		tree_begin(dir, COSY_TREE_CROSS, 0);
		CHECK(!tree_walk(shared, BUFFER, -1) &&
			      count_told(COSY_TREE_ENTER, 0) == entered + 2,
		      "crossing: %ld entered, %ld without", count_told(COSY_TREE_ENTER, 0),
		      entered);
		/* Mount it again when its entry has been examined. */
		MUST(!umount("mnt"));
		tree_begin(dir, 0, 0);
		while (tree_walk(shared, COSY_TREE_MIN_BUFFER, 1) > 0 &&
		       count_told(COSY_TREE_ENTER, 0) < 2)
			;
		MUST(!mount("none", "mnt", "tmpfs", 0, NULL) && !mkdir("mnt/in", 0700));
		CHECK(!tree_walk(shared, COSY_TREE_MIN_BUFFER, -1) &&
			      count_told(COSY_TREE_ENTER, 0) +
					      count_told(COSY_TREE_FAILED, -EXDEV) ==
				      entered + 1 &&
			      count_told(COSY_TREE_FAILED, 0) ==
				      count_told(COSY_TREE_FAILED, -EXDEV),
		      "mounted meanwhile: %ld entered of %ld, %ld not",
		      count_told(COSY_TREE_ENTER, 0), entered, count_told(COSY_TREE_FAILED, 0));
	}
	MUST(!umount("mnt") && !rmdir("mnt"));
}

/*
 * Mounts over the second of two directories when the first is entered: both entries have been
 * examined, and what is found there when it is opened is of another file system.
 */
static void mounted_over(void *unused)
{
	static const char *const names[] = { "two/0", "two/1" };
	char name[64];
	int dir;

	(void)unused;
	begin();
	MUST(!unshare(CLONE_NEWNS) && !mount("", "/", "", MS_REC | MS_PRIVATE, NULL));
	MUST(!mkdir("two", 0700) && (dir = open("two", O_RDONLY | O_DIRECTORY)) >= 0);
	/* Have more entries than one call can tell, so that one ends in the first directory. */
	for (int i = 0; i < 2; i++) {
		MUST(!mkdir(names[i], 0700));
		for (int file = 0; file < 20; file++) {
			snprintf(name, sizeof(name), "%s/%d", names[i], file);
			MUST(!close(open(name, O_CREAT | O_WRONLY, 0600)));
		}
	}
	for (size_t way = 0; way < COUNT(ways); way++) {
		const char *second = NULL;

		scan = ways[way].scan;
		tree_begin(dir, 0, 0);
		while (tree_walk(shared, COSY_TREE_MIN_BUFFER, 1) > 0 &&
		       count_told(COSY_TREE_ENTER, 0) < 2)
			;
		CHECK(count_told(COSY_TREE_ENTER, 0) == 2, "one of them is entered");
		for (size_t at = 0; at < told; at += told_at(at)->reclen)
			if (told_at(at)->kind == COSY_TREE_ENTER)
				second = names[told_at(at)->name[0] == '0'];
		MUST(!mount("none", second, "tmpfs", 0, NULL));
		CHECK(!tree_walk(shared, COSY_TREE_MIN_BUFFER, -1) &&
			      count_told(COSY_TREE_ENTER, 0) == 2 &&
			      count_told(COSY_TREE_FAILED, -EXDEV) == 1,
		      "%s: mounted over: %ld entered, %ld not", ways[way].name,
		      count_told(COSY_TREE_ENTER, 0), count_told(COSY_TREE_FAILED, 0));
		MUST(!umount(second));
	}
	close(dir);
	MUST(!system("rm -rf two"));
}

/* --- The tree ------------------------------------------------------------------------------ */

static void make_file(const char *path, int size)
{
	int fd = open(path, O_CREAT | O_RDWR, 0640);

	MUST(fd >= 0 && !ftruncate(fd, size) && !close(fd));
}

/* Makes the names of many directories take more room than a tree has at first. */
#define LONGER "-and-some-more-letters-for-room"

static void make_tree(void)
{
	char path[300] = "deep";

	MUST(!mkdir("many", 0755) && !mkdir("links", 0755) && !mkdir("empty", 0711));
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "many/%d" LONGER, i * 977);
		if (i % 3)
			make_file(path, i);
		else
			MUST(!mkdir(path, 0700 + (mode_t)i % 64));
		if (i % 6)
			continue;
		strcat(path, "/in");
		MUST(!mkdir(path, 0755));
		for (int k = 0; k < i % 5; k++) {
			snprintf(path, sizeof(path), "many/%d" LONGER "/in/file%d", i * 977, k);
			make_file(path, k * 4096);
		}
	}
	/* Take names of all lengths, so that they end at each place in a word. */
	for (int i = 1; i < 80; i++) {
		snprintf(path, sizeof(path), "empty/%.*s", i,
			 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
			 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
		if (i % 2)
			make_file(path, i);
		else
			MUST(!mkdir(path, 0755));
	}
	MUST(!symlink("../many", "links/many") && !symlink("nowhere", "links/dangling") &&
	     !symlink(".", "links/loop"));
	make_file("file", 12345);
	make_chain();
}

int main(void)
{
	chance_init();
	begin();
	stream = malloc(STREAM);
	mine = calloc(MAX_LINES, sizeof(*mine));
	other = calloc(MAX_LINES, sizeof(*other));
	directory_enter();
	MUST(!chmod(".", 0777) && stream && mine && other);
	make_tree();
	test_as_fts();
	for (size_t way = 0; way < COUNT(ways); way++) {
		scan = ways[way].scan;
		test_errors();
		test_ended();
		test_room();
	}
	test_room_of_names();
	test_deep();
	CHECK_CHILD(in_child(forbidden, NULL));
	if (!geteuid()) {
		CHECK_CHILD(in_child(mounted, NULL));
		CHECK_CHILD(in_child(mounted_over, NULL));
	}
	MUST(!system("rm -rf ./*"));
	directory_leave();
	return check_end();
}
