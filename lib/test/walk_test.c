// SPDX-License-Identifier: MIT
/* walk_test.c - cosy_walk: order, depths, paths, errors, and trees that change or are very deep. */
#include <stdbool.h>
#include <sys/mount.h>

#include <cosy/files.h>

#include "tree.h"

#define DEEP 1200

static struct cosy_walk *walk_open(const char *path, uint32_t flags, uint32_t max_depth)
{
	struct cosy_walk_options options = {
		.size = sizeof(options),
		.flags = flags,
		.max_depth = max_depth,
	};
	struct cosy_walk *walk = cosy_walk_open(AT_FDCWD, path, &options);

	MUST(walk);
	return walk;
}

/* Writes the events of a walk as text: entries of one directory sorted, "path" "path>" "path<". */
static const char *walk_text(const char *path, uint32_t flags, uint32_t max_depth)
{
	static char text[4096];
	const struct cosy_dir_entry *entry;
	struct cosy_walk *walk = walk_open(path, flags, max_depth);
	size_t length = 0;
	struct stat stat;
	int more;

	while ((more = cosy_walk_next(walk, &entry)) > 0) {
		CHECK_EQ(entry->path_length, strlen(entry->path));
		CHECK_EQ(entry->name_length, strlen(entry->name));
		CHECK(!entry->depth ||
		      !strcmp(entry->path + entry->path_length - entry->name_length, entry->name));
		CHECK(!fstatat(cosy_walk_fd(walk), entry->name, &stat, AT_SYMLINK_NOFOLLOW));
		if (entry->stat && !(flags & COSY_WALK_FOLLOW))
			CHECK(!memcmp(entry->stat, &stat, sizeof(stat)));
		if (entry->event == COSY_WALK_ENTRY && flags & COSY_WALK_STAT)
			CHECK(entry->stat != NULL);
		length += snprintf(text + length, sizeof(text) - length, "%s%c%d ", entry->path,
				   ".><!"[entry->event], entry -> depth);
		MUST(length < sizeof(text));
	}
	CHECK_EQ(more, 0);
	CHECK_EQ(cosy_walk_next(walk, &entry), 0);
	cosy_walk_close(walk);
	return text;
}

#define CHECK_TEXT(got, want)                                                                      \
	do {                                                                                       \
		const char *got_ = got;                                                            \
                                                                                                   \
		if (strcmp(got_, want)) {                                                          \
			fprintf(stderr, "%s:%d: %s\n  not %s\n", __FILE__, __LINE__, got_, want);  \
			check_failures++;                                                          \
		}                                                                                  \
	} while (0)

/* One entry in each directory, or two of which the order does not show. */
static void test_order(void)
{
	dir_make("t");
	dir_make("t/a");
	dir_make("t/a/b");
	file_make("t/a/b/f", 3);
	CHECK_TEXT(walk_text("t", 0, 0), "t>0 t/a.1 t/a>1 t/a/b.2 t/a/b>2 t/a/b/f.3 ");
	CHECK_TEXT(walk_text("t/", COSY_WALK_STAT | COSY_WALK_POST, 0),
		   "t/>0 t/a.1 t/a>1 t/a/b.2 t/a/b>2 t/a/b/f.3 t/a/b<2 t/a<1 t/<0 ");
	CHECK_TEXT(walk_text("t", COSY_WALK_POST, 1), "t>0 t/a.1 t<0 ");
	CHECK_TEXT(walk_text("t", COSY_WALK_POST | COSY_WALK_STAT, 2),
		   "t>0 t/a.1 t/a>1 t/a/b.2 t/a<1 t<0 ");
	MUST(!symlink("../../../t/a", "t/a/b/up"));
	MUST(!unlink("t/a/b/f"));
	CHECK_TEXT(walk_text("t", 0, 0), "t>0 t/a.1 t/a>1 t/a/b.2 t/a/b>2 t/a/b/up.3 ");
	CHECK_TEXT(walk_text("t", COSY_WALK_FOLLOW, 0),
		   "t>0 t/a.1 t/a>1 t/a/b.2 t/a/b>2 t/a/b/up.3 t/a/b/up>3 t/a/b/up!3 ");
	MUST(!unlink("t/a/b/up"));
	MUST(!symlink("nowhere", "t/a/b/up"));
	CHECK_TEXT(walk_text("t", COSY_WALK_FOLLOW | COSY_WALK_STAT, 0),
		   "t>0 t/a.1 t/a>1 t/a/b.2 t/a/b>2 t/a/b/up.3 ");
}

static void test_errors(void)
{
	struct cosy_walk_options options = {.size = sizeof(options)};
	const struct cosy_dir_entry *entry;
	struct cosy_walk *walk;
	int fds = fds_open();

	CHECK(!cosy_walk_open(AT_FDCWD, "nothing", NULL) && errno == ENOENT);
	MUST(!symlink("t", "link"));
	CHECK_TEXT(walk_text("link", 0, 1), "link>0 link/a.1 ");
	options.flags = COSY_WALK_NOFOLLOW_FIRST;
	CHECK(!cosy_walk_open(AT_FDCWD, "link", &options) && (errno == ELOOP || errno == ENOTDIR));
	options.flags = 1u << 5;
	CHECK(!cosy_walk_open(AT_FDCWD, "t", &options) && errno == EINVAL);
	options.flags = 0;
	options.reserved = 1;
	CHECK(!cosy_walk_open(AT_FDCWD, "t", &options) && errno == EINVAL);
	options.reserved = 0;
	options.size--;
	CHECK(!cosy_walk_open(AT_FDCWD, "t", &options) && errno == EINVAL);

	walk = walk_open("t", 0, 0);
	CHECK(cosy_walk_fd(walk) == -1 && errno == EINVAL);
	CHECK(cosy_walk_skip(walk) == -1 && errno == EINVAL);
	while (cosy_walk_next(walk, &entry) > 0)
		;
	CHECK(cosy_walk_fd(walk) == -1 && errno == EINVAL);
	CHECK(cosy_walk_skip(walk) == -1 && errno == EINVAL);
	cosy_walk_close(walk);
	errno = ENOTTY;
	cosy_walk_close(NULL);
	CHECK_EQ(errno, ENOTTY);
	/* One that is closed in the middle leaves nothing open. */
	walk = walk_open("t", 0, 0);
	for (int i = 0; i < 5; i++)
		MUST(cosy_walk_next(walk, &entry) == 1);
	cosy_walk_close(walk);
	CHECK_EQ(fds_open(), fds);
}

static void test_denied(void)
{
	bool dropped = user_drop();

	dir_make("d");
	dir_make("d/shut");
	file_make("d/shut/f", 1);
	MUST(!chmod("d/shut", 0));
	CHECK_TEXT(walk_text("d", COSY_WALK_POST | COSY_WALK_STAT, 0),
		   "d>0 d/shut.1 d/shut>1 d/shut!1 d/shut<1 d<0 ");
	MUST(!chmod("d/shut", 0755));
	user_restore(dropped);
}

static void test_skip(void)
{
	const struct cosy_dir_entry *entry;
	struct cosy_walk *walk = walk_open("t", COSY_WALK_POST, 0);
	char seen[64] = "";

	/* At ENTER */
	while (cosy_walk_next(walk, &entry) > 0) {
		sprintf(seen + strlen(seen), "%s%c ", entry->path, ".><!"[entry->event]);
		if (entry->event == COSY_WALK_ENTER && entry->depth == 1)
			CHECK(!cosy_walk_skip(walk));
	}
	CHECK_TEXT(seen, "t> t/a. t/a> t/a< t< ");
	cosy_walk_close(walk);

	/* At ENTRY, twice, and at the end of a directory */
	seen[0] = 0;
	walk = walk_open("t", COSY_WALK_POST, 0);
	while (cosy_walk_next(walk, &entry) > 0) {
		sprintf(seen + strlen(seen), "%s%c ", entry->path, ".><!"[entry->event]);
		if (entry->event == COSY_WALK_ENTRY && entry->depth == 2) {
			CHECK(!cosy_walk_skip(walk));
			CHECK(!cosy_walk_skip(walk));
		}
		if (entry->event == COSY_WALK_LEAVE)
			CHECK(!cosy_walk_skip(walk));
	}
	CHECK_TEXT(seen, "t> t/a. t/a> t/a/b. t/a< t< ");
	cosy_walk_close(walk);

	/* At a file: the rest of its directory */
	dir_make("s");
	for (int i = 0; i < 4; i++) {
		char name[] = "s/0";

		name[2] += i;
		if (i % 2)
			dir_make(name);
		else
			file_make(name, 0);
	}
	walk = walk_open("s", COSY_WALK_POST, 0);
	do
		MUST(cosy_walk_next(walk, &entry) == 1);
	while (entry->type == DT_DIR);
	CHECK(!cosy_walk_skip(walk));
	CHECK(cosy_walk_next(walk, &entry) == 1 && entry->event == COSY_WALK_LEAVE &&
	      !entry->depth);
	CHECK_EQ(cosy_walk_next(walk, &entry), 0);
	cosy_walk_close(walk);
}

/* A path of 9 KB; few descriptors, whatever the limit is. */
static void test_deep(void)
{
	const struct cosy_dir_entry *entry;
	struct cosy_walk *walk;
	struct rlimit limit;
	int fd = AT_FDCWD, below, entered = 0, files = 0, fds;

	dir_make("deep");
	fd = open("deep", O_RDONLY);
	for (int i = 0; i < DEEP; i++) {
		char name[] = "level-x";

		name[6] = 'a' + i % 20;
		MUST(!mkdirat(fd, name, 0755) && !mkdirat(fd, "z", 0755));
		below = openat(fd, name, O_RDONLY);
		MUST(below >= 0);
		close(fd);
		fd = below;
	}
	close(fd);
	fds = fds_open();
	for (int left = 3; left <= 21; left += 6) {
		limit = fds_limit(left);
		walk = walk_open("deep", COSY_WALK_POST | COSY_WALK_STAT, 0);
		entered = files = 0;
		while (cosy_walk_next(walk, &entry) > 0) {
			CHECK(entry->event != COSY_WALK_FAILED);
			if (entry->depth % 100 == 99)
				CHECK(fds_open() <= fds + 18);
			entered += entry->event == COSY_WALK_ENTER;
			files += entry->event == COSY_WALK_LEAVE;
			if (entry->depth == DEEP && entry->name[0] == 'l')
				CHECK(entry->path_length == 4 + 8 * DEEP);
		}
		CHECK_EQ(entered, 1 + 2 * DEEP);
		CHECK_EQ(files, 1 + 2 * DEEP);
		cosy_walk_close(walk);
		fds_restore(&limit);
	}
	CHECK_EQ(fds_open(), fds);
}

/* A directory is moved away while the walk is below it: ".." leads elsewhere, its name does not. */
static void test_moved(void)
{
	const struct cosy_dir_entry *entry;
	struct cosy_walk *walk;
	char name[256] = "m", deeper[300];
	int failed = 0, entered = 0;

	dir_make("m");
	for (int i = 0; i < 40; i++) {
		strcat(name, "/d");
		dir_make(name);
		sprintf(deeper, "%s/e", name);
		dir_make(deeper);
	}
	dir_make("elsewhere");
	walk = walk_open("m", 0, 0);
	while (cosy_walk_next(walk, &entry) > 0) {
		entered += entry->event == COSY_WALK_ENTER;
		if (entry->event == COSY_WALK_ENTER && entry->depth == 38 && name[61]) {
			/* depth 30 goes elsewhere; what is above it is not affected */
			name[1 + 2 * 30] = 0;
			MUST(!rename(name, "elsewhere/it"));
		}
		if (entry->event == COSY_WALK_FAILED) {
			CHECK_EQ(entry->error, ESTALE);
			failed++;
		}
	}
	/* All entries were reported before, so each directory is entered or has failed. */
	CHECK_EQ(entered, 81);
	CHECK(failed <= 10);
	cosy_walk_close(walk);
}

/* A directory that becomes a link between its entry and its opening is not followed. */
static void test_race(void)
{
	const struct cosy_dir_entry *entry;
	struct cosy_walk *walk;
	bool failed = false;

	dir_make("r");
	dir_make("r/d");
	dir_make("outside");
	file_make("outside/secret", 1);
	walk = walk_open("r", 0, 0);
	while (cosy_walk_next(walk, &entry) > 0) {
		CHECK(!strstr(entry->path, "secret"));
		if (entry->event == COSY_WALK_ENTER && entry->depth == 1) {
			MUST(!rmdir("r/d") && !symlink("../outside", "r/d"));
		}
		if (entry->event == COSY_WALK_FAILED) {
			CHECK(entry->error == ELOOP || entry->error == ENOTDIR);
			failed = true;
		}
	}
	CHECK(failed);
	cosy_walk_close(walk);
}

static void test_mount(void)
{
	dir_make("mounts");
	dir_make("mounts/fs");
	if (mount("tmpfs", "mounts/fs", "tmpfs", 0, NULL)) {
		fprintf(stderr, "not tested: mounts, which this process may not make\n");
		return;
	}
	file_make("mounts/fs/f", 1);
	CHECK_TEXT(walk_text("mounts", COSY_WALK_ONE_FS | COSY_WALK_STAT, 0),
		   "mounts>0 mounts/fs.1 ");
	CHECK_TEXT(walk_text("mounts", COSY_WALK_ONE_FS, 0), "mounts>0 mounts/fs.1 ");
	CHECK_TEXT(walk_text("mounts", 0, 0), "mounts>0 mounts/fs.1 mounts/fs>1 mounts/fs/f.2 ");
	MUST(!umount("mounts/fs"));
}

int main(void)
{
	tree_begin();
	test_order();
	test_errors();
	test_denied();
	test_skip();
	test_deep();
	test_moved();
	test_race();
	test_mount();
	tree_end();
	return check_result();
}
