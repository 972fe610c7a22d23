/* SPDX-License-Identifier: MIT */
/*
 * Goes through trees by scan_tree while others move what is in them, or write over the walk's own
 * notes: it stays in its tree, loses no descriptor, ends, and does no harm.
 */
#include "scan_tree.h"
#include <pthread.h>
#include <stdatomic.h>

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

/*
 * Says that a walk has megabytes of entries to search, none of them a directory: it stops at times.
 */
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

/* Says that a walk has a file's entry to search that is longer than what there is of entries. */
static void test_length(void)
{
	enum { COLLECT = 4, ENTRY = 256 }; /* enum tree_step */
	struct cosy_dirent *entry = (struct cosy_dirent *)shared;
	int dir = open("empty", O_RDONLY | O_DIRECTORY);

	MUST(dir >= 0);
	for (int more = 0; more <= 8; more += 8) {
		long result;

		tree_begin(dir, 0, 0);
		MUST(lseek(dir, 0, SEEK_SET) == 0 &&
		     scan_in_kernel(tree, shared, COSY_TREE_MIN_BUFFER) > 0);
		memset(shared, 0, ENTRY);
		entry->reclen = (uint16_t)(ENTRY + more);
		entry->type = DT_REG;
		tree->step = COLLECT;
		tree->seen = tree->left = 0;
		tree->done = ENTRY;
		result = scan_in_kernel(tree, shared, COSY_TREE_MIN_BUFFER);
		CHECK(more ? result == -EINVAL : result >= ENTRY, "%d bytes more: %ld", more,
		      result);
	}
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

static void make_tree(void)
{
	char path[32];

	MUST(!mkdir("empty", 0711));
	make_chain();
	for (int i = 1; i < 80; i++) {
		snprintf(path, sizeof(path), "empty/%d", i);
		MUST(!mkdir(path, 0755));
	}
}

int main(void)
{
	chance_init();
	begin();
	stream = malloc(STREAM);
	directory_enter();
	MUST(!chmod(".", 0777) && stream);
	make_tree();
	test_many_entries();
	test_length();
	test_replaced();
	test_moved();
	test_race();
	CHECK_CHILD(in_child(forged, NULL));
	CHECK_CHILD(in_child(scribbled, NULL));
	MUST(!system("rm -rf ./*"));
	directory_leave();
	return check_end();
}
