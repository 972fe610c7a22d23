// SPDX-License-Identifier: MIT
/*
 * compounds_test.c - the functions of <cosy/files.h> with compounds that this program plays, as the
 * kernel leaves them when a signal interrupts or a name is too long.
 */
#include <stdbool.h>

#include <cosy/files.h>
#include <linux/cosy.h>

#include "files/compounds.h"
#include "tree.h"

/* Plays a run; false: not this one, so it is not made. */
static bool (*play)(void *words);
static int plays_left;

bool libcosy_files_ready(enum files_compound which)
{
	(void)which;
	return play;
}

bool libcosy_files_run(enum files_compound which, void *words)
{
	(void)which;
	if (!play || !plays_left || !play(words))
		return false;
	plays_left--;
	return true;
}

void libcosy_files_count(enum files_compound which, size_t calls)
{
	(void)which;
	(void)calls;
}

/* --- Lists -------------------------------------------------------------------------------------- */

static bool play_open_interrupted(void *words)
{
	struct files_list *list = words;

	if (!list->name)
		return false;
	if (list->closing >= 0)
		close(list->closing);
	list->fd = -EINTR;
	return true;
}

static void test_open_interrupted(void)
{
	const struct cosy_dir_entry *entry;
	struct cosy_walk_options options = {.size = sizeof(options), .flags = COSY_WALK_STAT};
	struct cosy_walk *walk;
	int files = 0, failed = 0, fds = fds_open();

	dir_make("tree");
	dir_make("tree/dir");
	file_make("tree/dir/f", 1);
	play = play_open_interrupted;
	plays_left = 1;
	walk = cosy_walk_open(AT_FDCWD, "tree", &options);
	MUST(walk);
	while (cosy_walk_next(walk, &entry) > 0) {
		files += !strcmp(entry->name, "f") && entry->stat;
		failed += entry->event == COSY_WALK_FAILED;
	}
	cosy_walk_close(walk);
	CHECK_EQ(plays_left, 0);
	CHECK_EQ(files, 1);
	CHECK_EQ(failed, 0);
	/* If the directory is gone, that is the error. */
	plays_left = 1;
	walk = cosy_walk_open(AT_FDCWD, "tree", &options);
	MUST(walk);
	while (cosy_walk_next(walk, &entry) > 0) {
		if (entry->event == COSY_WALK_ENTER && entry->depth == 1)
			MUST(!rename("tree/dir", "tree/moved"));
		if (entry->event == COSY_WALK_FAILED)
			failed += entry->error == ENOENT;
	}
	cosy_walk_close(walk);
	CHECK_EQ(failed, 1);
	play = NULL;
	CHECK_EQ(fds_open(), fds);
}

/* Error that the compound ends with, after it has described no entry. */
static int list_error;

static bool play_list_error(void *words)
{
	struct files_list *list = words;

	list->bytes = 0;
	list->more = list_error;
	return true;
}

/* Describes "." and ends with the error. */
static bool play_described(void *words)
{
	struct files_list *list = words;
	struct cosy_dirent *to = (struct cosy_dirent *)list->to;

	memset(to, 0, sizeof(*to) + 8);
	to->reclen = (offsetof(struct cosy_dirent, name) + 2 + 7) & ~7u;
	strcpy(to->name, ".");
	to->error = -ENOENT;
	list->bytes = to->reclen;
	list->more = list_error;
	return true;
}

static int scan_count(bool (*played)(void *words), int error)
{
	struct cosy_scan *scan = cosy_scan_open(AT_FDCWD, "many", COSY_SCAN_STAT);
	const struct cosy_dir_entry *entry;
	int count = 0, more;

	MUST(scan);
	play = played;
	plays_left = 1;
	list_error = error;
	while ((more = cosy_scan_next(scan, &entry)) > 0)
		count += entry->stat && S_ISREG(entry->stat->st_mode);
	play = NULL;
	cosy_scan_close(scan);
	return more < 0 ? -1 : count;
}

static void test_list_goes_on(void)
{
	char name[32];

	dir_make("many");
	for (int i = 0; i < 10; i++) {
		sprintf(name, "many/%d", i);
		file_make(name, 0);
	}
	CHECK_EQ(scan_count(play_list_error, -EINVAL), 10);
	CHECK_EQ(scan_count(play_list_error, -EINTR), 10);
	CHECK_EQ(scan_count(play_described, -EINVAL), 10);
	CHECK_EQ(scan_count(play_described, -EINTR), 10);
}

/* --- Contents -------------------------------------------------------------------------------------- */

/* Reads one file to its end; of the next one, a FIFO, 100 bytes until a signal comes. */
static bool play_read_interrupted(void *words)
{
	struct files_read *read_words = words;
	const char **paths = (const char **)read_words->paths;
	char *to = (char *)read_words->to;
	int fd = open(paths[0], O_RDONLY);

	*(int64_t *)read_words->results = read(fd, to, 10);
	close(fd);
	read_words->results += sizeof(int64_t);
	read_words->fd = open(paths[1], O_RDONLY);
	MUST(read_words->fd >= 0 && read(read_words->fd, to + 16, 100) == 100);
	read_words->bytes = 100;
	read_words->to += 116;
	return true;
}

static bool play_read_open_interrupted(void *words)
{
	((struct files_read *)words)->fd = -EINTR;
	return true;
}

static void test_read_interrupted(void)
{
	const char *paths[] = {"content", "fifo", "content"};
	struct cosy_read_files *files;
	const struct cosy_file *file;
	char want[1000];
	int fds = fds_open(), writer;

	file_make("content", 10);
	MUST(!mkfifo("fifo", 0600));
	memset(want, 'w', sizeof(want));
	for (int closed_early = 0; closed_early < 2; closed_early++) {
		/* Opened for both, it waits for nobody; the reader sees the end when it is closed. */
		writer = open("fifo", O_RDWR);
		MUST(writer >= 0 && write(writer, want, sizeof(want)) == sizeof(want));
		play = play_read_interrupted;
		plays_left = 1;
		files = cosy_read_files_open(AT_FDCWD, paths, 3, NULL);
		MUST(files && cosy_read_files_next(files, &file) == 1);
		CHECK(file->size == 10 && !memcmp(file->data, "ahov", 4));
		close(writer);
		if (!closed_early) {
			MUST(cosy_read_files_next(files, &file) == 1);
			CHECK_EQ(file->error, 0);
			CHECK_EQ(file->size, sizeof(want));
			CHECK(file->size == sizeof(want) &&
			      !memcmp(file->data, want, sizeof(want)));
			MUST(cosy_read_files_next(files, &file) == 1);
			CHECK(!file->error && file->size == 10);
			CHECK_EQ(cosy_read_files_next(files, &file), 0);
		}
		cosy_read_files_close(files);
		CHECK_EQ(fds_open(), fds);
	}
	paths[1] = "content";
	play = play_read_open_interrupted;
	plays_left = 1;
	files = cosy_read_files_open(AT_FDCWD, paths, 3, NULL);
	for (int i = 0; i < 3; i++)
		CHECK(cosy_read_files_next(files, &file) == 1 && file->size == 10);
	CHECK_EQ(cosy_read_files_next(files, &file), 0);
	cosy_read_files_close(files);
	CHECK_EQ(fds_open(), fds);
	play = NULL;
}

int main(void)
{
	tree_begin();
	test_open_interrupted();
	test_list_goes_on();
	test_read_interrupted();
	tree_end();
	return check_result();
}
