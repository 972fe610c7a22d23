// SPDX-License-Identifier: MIT
/* cosy.c - the work by <cosy/files.h>. */
#include <fcntl.h>
#include <stdlib.h>

#include <cosy/files.h>

#include "work.h"

uint64_t work_scan(void)
{
	struct cosy_scan *scan = cosy_scan_open(AT_FDCWD, ".", COSY_SCAN_STAT);
	const struct cosy_dir_entry *entry;
	uint64_t sum = 0;

	while (cosy_scan_next(scan, &entry) > 0)
		if (entry->stat)
			sum += sum_file(entry->name, entry->stat->st_size, entry->stat->st_mode);
	cosy_scan_close(scan);
	return sum;
}

uint64_t work_walk(void)
{
	struct cosy_walk_options options = {.size = sizeof(options), .flags = COSY_WALK_STAT};
	struct cosy_walk *walk = cosy_walk_open(AT_FDCWD, ".", &options);
	const struct cosy_dir_entry *entry;
	uint64_t sum = 0;

	while (cosy_walk_next(walk, &entry) > 0)
		if (entry->event == COSY_WALK_ENTRY && entry->stat)
			sum += sum_file(entry->name, entry->stat->st_size, entry->stat->st_mode);
	cosy_walk_close(walk);
	return sum;
}

/* Names in one call, as cosy_stat_many(3) advises: fresh memory costs more than a call. */
#define NAMES 256

uint64_t work_stat(const char *const *names, int count)
{
	static struct cosy_stat_result results[NAMES];
	uint64_t sum = 0;

	for (int first = 0; first < count; first += NAMES) {
		int some = count - first < NAMES ? count - first : NAMES;

		cosy_stat_many(AT_FDCWD, &names[first], some, AT_SYMLINK_NOFOLLOW,
			       STATX_BASIC_STATS, results);
		for (int i = 0; i < some; i++)
			if (!results[i].error)
				sum += sum_file(names[first + i], results[i].statx.stx_size,
						results[i].statx.stx_mode);
	}
	return sum;
}

uint64_t work_read(const char *const *names, int count)
{
	struct cosy_read_files *files = cosy_read_files_open(AT_FDCWD, names, count, NULL);
	const struct cosy_file *file;
	uint64_t sum = 0;

	while (cosy_read_files_next(files, &file) > 0)
		sum += sum_bytes(file->data, file->size);
	cosy_read_files_close(files);
	return sum;
}
