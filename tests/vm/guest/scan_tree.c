/* SPDX-License-Identifier: MIT */
/*
 * Goes through trees by scan_tree: by an operation in the kernel, in a region, and by libcosy's own
 * function.  All three tell what fts tells, byte for byte, and what cannot be gone through is told,
 * whatever others do meanwhile.
 */
#include "raw.h"
#include <cosy/fast.h>
#include <fts.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/resource.h>

enum { BUFFER = 65536, SPACE = 1 << 20, STREAM = 16 << 20, LEVELS = 5000 };

static int device;
static uint32_t program; /* makes one call */
static char *shared;	 /* the shared buffer: BUFFER for entries, the rest for the tree */
static struct cosy_tree *tree;
static char *stream; /* all that a walk told */
static size_t told;

/* --- Ways to make a call ------------------------------------------------------------------- */

typedef long scan_function(struct cosy_tree *tree, void *to, size_t size);

static long scan_in_kernel(struct cosy_tree *tree, void *to, size_t size)
{
	static struct raw_run run;
	static uint64_t words[4];

	if (!program) {
		struct bpf_insn insns[] = {
			MOVR(6, 1),
			LOAD(BPF_DW, 1, 6, 0),
			LOAD(BPF_DW, 2, 6, 8),
			LOAD(BPF_DW, 3, 6, 16),
			CALL_OP(RAW_OP_scan_tree),
			STORE(BPF_DW, 6, 24, 0),
			EXIT,
		};

		program = raw_load(device, insns, COUNT(insns));
	}
	memcpy(words, (uint64_t[]){ (uintptr_t)tree, (uintptr_t)to, size, 1 }, sizeof(words));
	raw_run_init(&run, program, words);
	MUST(!raw_run_to_end(device, &run) && run.run.status == COSY_DONE);
	return (long)words[3];
}

static long scan_in_region(struct cosy_tree *tree, void *to, size_t size)
{
	long result;
	int error;

	COSY_START;
	result = cosy_scan_tree(tree, to, size);
	error = errno;
	COSY_END;
	return result < 0 ? -error : result;
}

static long scan_natively(struct cosy_tree *tree, void *to, size_t size)
{
	long result = cosy_scan_tree(tree, to, size);

	return result < 0 ? -errno : result;
}

static const struct {
	const char *name;
	scan_function *scan;
} ways[] = { { "kernel", scan_in_kernel },
	     { "region", scan_in_region },
	     { "library", scan_natively } };

static scan_function *scan;

/* Opens the device: a child cannot use its parent's. */
static void begin(void)
{
	device = raw_open();
	program = 0;
	shared = raw_buffer(device, 2 * SPACE);
	tree = (struct cosy_tree *)(shared + BUFFER);
}

/* --- A walk ---------------------------------------------------------------------------------- */

static void tree_begin(int dir, uint32_t flags, uint32_t depth)
{
	memset(tree, 0, sizeof(*tree));
	tree->size = SPACE;
	tree->dirfd = dir;
	tree->flags = flags;
	tree->max_depth = depth;
	MUST(!lseek(dir, 0, SEEK_SET));
	told = 0;
}

/* Walks on to the end, or for `calls` calls.  Returns the last call's result. */
static long tree_walk(char *to, size_t size, int calls)
{
	long bytes = 1;

	while (calls-- && (bytes = scan(tree, to, size)) > 0) {
		CHECK(bytes <= (long)size && bytes % 8 == 0, "%ld bytes of %zu", bytes, size);
		MUST(told + (size_t)bytes <= STREAM);
		memcpy(stream + told, to, (size_t)bytes);
		told += (size_t)bytes;
	}
	return bytes;
}

static struct cosy_dirent *told_at(size_t at)
{
	struct cosy_dirent *entry = (struct cosy_dirent *)(stream + at);

	MUST(at < told && entry->reclen >= sizeof(*entry) + 8 && entry->reclen <= told - at);
	return entry;
}

/* Counts what a walk told of one kind; with `error`, of that error. */
static long count_told(int kind, int error)
{
	long ret = 0;

	for (size_t at = 0; at < told; at += told_at(at)->reclen)
		ret += told_at(at)->kind == kind && (!error || told_at(at)->error == error);
	return ret;
}

static long free_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* --- As fts tells ------------------------------------------------------------------------------ */

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
	/* The first listing sets times of access, later ones leave them. */
	system("ls -R . > /dev/null");
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

/* --- While others change things ---------------------------------------------------------------- */

/* Puts a link in a directory's place between its listing and its opening. */
static void test_replaced(void)
{
	int dir, want;

	MUST(!mkdir("swap", 0700) && (dir = open("swap", O_RDONLY | O_DIRECTORY)) >= 0);
	for (size_t way = 0; way < COUNT(ways); way++) {
		scan = ways[way].scan;
		MUST(!mkdir("swap/a", 0700) && !mkdir("swap/b", 0700) && !mkdir("swap/b/c", 0700));
		tree_begin(dir, 0, 0);
		/* The buffer has room for the directory and its four entries, no more. */
		CHECK(tree_walk(shared, COSY_TREE_MIN_BUFFER, 1) > 0 &&
			      count_told(COSY_TREE_ENTRY, 0) == 4 &&
			      count_told(COSY_TREE_ENTER, 0) == 1,
		      "%ld entries", count_told(COSY_TREE_ENTRY, 0));
		for (int i = 0; i < 2; i++) {
			const char *name = i ? "swap/b" : "swap/a";

			MUST(!rename(name, i ? "aside_b" : "aside_a") && !symlink("/", name));
		}
		errno = 0;
		CHECK(openat(dir, "a", O_RDONLY | O_DIRECTORY | O_NOFOLLOW) < 0, "a link");
		want = -errno;
		CHECK(!tree_walk(shared, COSY_TREE_MIN_BUFFER, -1) &&
			      count_told(COSY_TREE_FAILED, want) == 2 &&
			      count_told(COSY_TREE_FAILED, want) == count_told(COSY_TREE_FAILED, 0),
		      "%ld failed, %ld as a link", count_told(COSY_TREE_FAILED, 0),
		      count_told(COSY_TREE_FAILED, want));
		MUST(!unlink("swap/a") && !unlink("swap/b") && !system("rm -rf aside_a aside_b"));
	}
	close(dir);
	MUST(!rmdir("swap"));
}

/* Moves a deep directory elsewhere while the walk is in it: its ".." leads elsewhere, too. */
static void test_moved(void)
{
	int dir = open("deep", O_RDONLY | O_DIRECTORY);
	long before = free_descriptor(), lost;

	for (size_t way = 0; way < COUNT(ways); way++) {
		char name[] = "deep/d/d";

		scan = ways[way].scan;
		tree_begin(dir, COSY_TREE_POST, 0);
		while (tree_walk(shared, COSY_TREE_MIN_BUFFER, 1) > 0 &&
		       count_told(COSY_TREE_ENTER, 0) < 18)
			;
		MUST(!mkdir("elsewhere", 0700) && !rename(name, "elsewhere/d"));
		CHECK(!tree_walk(shared, COSY_TREE_MIN_BUFFER, -1), "the walk ended");
		lost = count_told(COSY_TREE_FAILED, -ESTALE);
		CHECK(lost == 1 && count_told(COSY_TREE_FAILED, 0) == 1, "%s: %ld lost",
		      ways[way].name, lost);
		CHECK(count_told(COSY_TREE_LEAVE, 0) == count_told(COSY_TREE_ENTER, 0),
		      "%ld entered, %ld left", count_told(COSY_TREE_ENTER, 0),
		      count_told(COSY_TREE_LEAVE, 0));
		CHECK(free_descriptor() == before, "a descriptor was left");
		MUST(!rename("elsewhere/d", name) && !rmdir("elsewhere"));
	}
	close(dir);
}

static _Atomic bool done;

static void *mover(void *unused)
{
	for (unsigned int i = 0; !done; i++) {
		char from[32], to[32];

		snprintf(from, sizeof(from), "moving/%u", i % 20);
		snprintf(to, sizeof(to), "moving/%u/in", (i + 7) % 20);
		rename(from, to);
		symlink("/proc", from);
		rename("moving/file", "moving/other");
		unlink(from);
		rename(to, from);
		rename("moving/other", "moving/file");
	}
	return unused;
}

/* Only the tree's own directories are ever entered, all of one file system. */
static void test_race(void)
{
	struct stat st;
	pthread_t thread;
	char name[32];
	long before;
	int dir;

	MUST(!mkdir("moving", 0700));
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "moving/%d", i);
		MUST(!mkdir(name, 0700));
		strcat(name, "/low");
		MUST(!mkdir(name, 0700));
	}
	close(open("moving/file", O_CREAT | O_RDWR, 0600));
	MUST(!stat("moving", &st) && (dir = open("moving", O_RDONLY | O_DIRECTORY)) >= 0);
	before = free_descriptor();
	done = false;
	MUST(!pthread_create(&thread, NULL, mover, NULL));
	for (int i = 0; i < 60; i++) {
		scan = ways[i % (int)COUNT(ways)].scan;
		tree_begin(dir, COSY_TREE_POST, 0);
		CHECK(!tree_walk(shared, i % 2 ? BUFFER : COSY_TREE_MIN_BUFFER, -1), "the walk");
		for (size_t at = 0; at < told; at += told_at(at)->reclen) {
			struct cosy_dirent *entry = told_at(at);

			if (entry->kind == COSY_TREE_ENTER)
				CHECK(((struct stat *)entry->stat)->st_dev == st.st_dev,
				      "%s is elsewhere", entry->name);
			if (entry->kind == COSY_TREE_FAILED)
				CHECK(entry->error == -ENOENT || entry->error == -ENOTDIR ||
					      entry->error == -ESTALE,
				      "%s: error %d", entry->name, entry->error);
		}
		CHECK(count_told(COSY_TREE_ENTER, 0) == count_told(COSY_TREE_LEAVE, 0),
		      "%ld entered, %ld left", count_told(COSY_TREE_ENTER, 0),
		      count_told(COSY_TREE_LEAVE, 0));
	}
	done = true;
	pthread_join(thread, NULL);
	CHECK(free_descriptor() == before, "descriptors were left");
	close(dir);
	MUST(!system("rm -rf moving"));
}

/* Says that a walk has megabytes of entries to search, none of them a directory: it stops at times. */
static void test_many_entries(void)
{
	enum { COLLECT = 4, MANY = 4 << 20, PORTION = 64 << 10 }; /* enum tree_step, TREE_PORTION */
	static struct raw_run run;
	int dir = open("empty", O_RDONLY | O_DIRECTORY), stops = 0;
	char *to = calloc(1, MANY);
	uint64_t words[4] = { (uintptr_t)tree, (uintptr_t)to, MANY };

	MUST(dir >= 0 && to);
	for (size_t at = 0, size; at < MANY; at += size) {
		struct cosy_dirent *entry = (struct cosy_dirent *)(to + at);

		size = MANY - at < 512 ? MANY - at : 256;
		entry->reclen = (uint16_t)size;
		entry->type = DT_REG;
	}
	tree_begin(dir, 0, 0);
	MUST(scan_in_kernel(tree, shared, COSY_TREE_MIN_BUFFER) > 0);
	tree->step = COLLECT;
	tree->seen = tree->left = 0;
	tree->done = MANY;
	raw_run_init(&run, program, words);
	for (raw_limits(device, 0, 1);; stops++) {
		run.state.kernel_ns = 0;
		MUST(!raw_run(device, &run) && stops < 10000);
		if (run.run.status == COSY_DONE)
			break;
	}
	raw_limits(device, 0, 0);
	CHECK(stops >= MANY / PORTION && words[3] == MANY, "%d stops, result %lld", stops,
	      (long long)words[3]);
	free(to);
	close(dir);
}

static void *scribbler(void *unused)
{
	uint64_t *words = (uint64_t *)shared;

	chance_init();
	while (!done) {
		/* Descriptors stay none, so that nothing of the test's own is closed. */
		size_t at = chance(2) ? chance(BUFFER / 8) : BUFFER / 8 + 2 + chance(SPACE / 64);

		*(volatile uint64_t *)&words[at] =
			chance(2) ? chance(0) | 0xffffffffu : chance(400) << 32 | 0xffffffffu;
	}
	return unused;
}

/* Writes over the entries and the walk's own notes: it gives nonsense, ends, and does no harm. */
static void scribbled(void *unused)
{
	int dir = open(".", O_RDONLY | O_DIRECTORY);
	pthread_t thread;

	(void)unused;
	begin();
	scan = scan_in_kernel;
	done = false;
	MUST(!pthread_create(&thread, NULL, scribbler, NULL));
	for (int i = 0; i < 300; i++) {
		memset(tree, 0, sizeof(*tree));
		tree->size = SPACE;
		tree->dirfd = dir;
		lseek(dir, 0, SEEK_SET);
		for (int calls = 0; calls < 5; calls++)
			scan(tree, shared, 4096);
	}
	done = true;
	pthread_join(thread, NULL);
}

/* Forges every member of the head, to values that may mean something. */
static void forged(void *unused)
{
	(void)unused;
	begin();
	device = fcntl(device, F_DUPFD, 500);
	scan = scan_in_kernel;
	for (int i = 0; i < 1000; i++) {
		uint32_t *words = (uint32_t *)tree;
		/* Any descriptor may have been closed, but for the device's. */
		int dir = open(".", O_RDONLY | O_DIRECTORY);

		memset(tree, 0, 16384);
		tree_begin(dir, 0, 0);
		if (chance(2))
			scan(tree, shared, 4096);
		for (size_t at = 4; at < offsetof(struct cosy_tree, stat) / 4; at++) {
			uint32_t values[] = { 0, 1, 8, 240, 288, 4096, SPACE - 8, SPACE, ~0u, ~7u };

			if (at != offsetof(struct cosy_tree, fd) / 4 && !chance(4))
				words[at] = chance(3) ? values[chance(COUNT(values))]
						      : (uint32_t)chance(20);
		}
		tree->step = (uint32_t)chance(18);
		tree->fd = -1;
		for (int calls = 0; calls < 3; calls++)
			scan(tree, shared, chance(4) ? 4096 : 0);
		close(dir);
	}
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
	strcpy(path, "deep");
	MUST(!mkdir(path, 0755));
	for (int i = 0; i < 20; i++) {
		strcat(path, "/d");
		MUST(!mkdir(path, 0755));
		if (i % 4)
			continue;
		strcat(path, ".side");
		MUST(!mkdir(path, 0755));
		path[strlen(path) - 5] = 0;
	}
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
	test_many_entries();
	test_deep();
	test_replaced();
	test_moved();
	test_race();
	CHECK_CHILD(in_child(forged, NULL));
	CHECK_CHILD(in_child(forbidden, NULL));
	if (!geteuid())
		CHECK_CHILD(in_child(mounted, NULL));
	CHECK_CHILD(in_child(scribbled, NULL));
	MUST(!system("rm -rf ./*"));
	directory_leave();
	return check_end();
}
