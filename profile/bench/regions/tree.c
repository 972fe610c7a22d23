// SPDX-License-Identifier: MIT
/*
 * tree.c - adds up the sizes of a directory's files, as du does: tree DIRECTORY TURNS.  With
 * BY_NAME it is as `cosy profile` advises it, by cosy_scan_dir.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef BY_NAME
#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <linux/cosy.h>

static long sizes_in(const char *path)
{
	char entries[16384] __attribute__((aligned(16)));
	int directory = open(path, O_RDONLY | O_DIRECTORY);
	long size = 0;
	ssize_t len;

	COSY_START;
	while ((len = cosy_scan_dir(directory, entries, sizeof(entries), AT_SYMLINK_NOFOLLOW)) > 0)
		for (ssize_t at = 0; at < len;) {
			const struct cosy_dirent *entry =
				(const struct cosy_dirent *)(entries + at);
			const struct stat *st = (const struct stat *)entry->stat;

			if (!entry->error && S_ISREG(st->st_mode))
				size += st->st_size;
			at += entry->reclen;
		}
	COSY_END;
	close(directory);
	return size;
}
#else
static long sizes_in(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	struct stat st;
	long size = 0;

	while (directory && (entry = readdir(directory)))
		if (!fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			size += st.st_size;
	if (directory)
		closedir(directory);
	return size;
}
#endif

int main(int argc, char **argv)
{
	int turns = argc == 3 ? atoi(argv[2]) : 0;
	long size = 0;

	for (int i = 0; i < turns; i++)
		size = sizes_in(argv[1]);
	printf("%ld\n", size);
	return !size;
}
