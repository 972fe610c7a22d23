/* SPDX-License-Identifier: MIT */
/*
 * watch_region DIR: opens that a region makes in the kernel change words, as other opens do.
 * Otherwise an answer could show a time of access from before a read, or another directory's entry.
 */
#include "guards.h"
#include "watch.h"

enum { TIMES = 8 };

static struct answer answer;

/* A READ may meet the tick.  False: it went on failing. */
static bool read_holds(const struct watcher *watcher, int dirfd, const char *name)
{
	for (int i = 0; i < 100; i++)
		if (!watcher_read(watcher, dirfd, NULL, name, &answer) &&
		    answer_holds(watcher, &answer))
			return true;
	return false;
}

/* Opens and closes a name in a region; returns how many times. */
static int opened(const char *name, int flags)
{
	int count = 0, fd;

	COSY_START;
	for (int i = 0; i < TIMES; i++) {
		fd = open(name, flags);
		if (fd >= 0) {
			close(fd);
			count++;
		}
	}
	COSY_END;
	return count;
}

static void changes_words(const struct watcher *watcher, const char *name, int flags)
{
	const struct cosy_watch_entry *entry;
	struct cosy_stats then;
	uint64_t numbers;

	/* Now the region's code is loaded. */
	opened(name, flags);
	CHECK(read_holds(watcher, AT_FDCWD, name), "no READ of %s", name);
	entry = answer.entry;
	if (!entry)
		return;
	then = counts();
	numbers = watcher->words[COSY_WATCH_NUMBERS];
	CHECK(opened(name, flags) == TIMES, "opening %s failed", name);
	CHECK_FAST(then, TIMES);
	CHECK(watcher->words[entry->word] - entry->value >= TIMES,
	      "%d opens of %s changed its word by %llu", TIMES, name,
	      watcher->words[entry->word] - entry->value);
	if (flags & O_DIRECTORY)
		CHECK(watcher->words[COSY_WATCH_NUMBERS] - numbers >= TIMES,
		      "opening directories has not changed the word of numbers");
}

int main(int argc, char **argv)
{
	struct watcher watcher;

	MUST(argc == 2 && (!mkdir(argv[1], 0755) || errno == EEXIST) && !chdir(argv[1]));
	close(open("file", O_CREAT | O_WRONLY, 0644));
	MUST(!mkdir("folder", 0755) || errno == EEXIST);
	sync();
	MUST(!watcher_open(&watcher));
	changes_words(&watcher, "file", O_RDONLY);
	changes_words(&watcher, "folder", O_RDONLY | O_DIRECTORY);
	return check_end();
}
