// SPDX-License-Identifier: MIT
/*
 * listed.c - a directory listed with its attributes again and again, for `cosy profile`: listed
 * DIRECTORY PASSES.  With LISTED_BY_NAME it is as `cosy profile` advises it, by cosy_scan_dir.
 *
 * It prints what it has found, so that the plain program and the other one can be compared.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct found {
	unsigned long entries, bytes, names;
};

#ifdef LISTED_BY_NAME

#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <linux/cosy.h>

/* Lists the directory; the whole loop is a region. */
static void list(const char *name, struct found *found)
{
	unsigned long entries = 0, bytes = 0, names = 0;
	int directory = open(name, O_RDONLY | O_DIRECTORY);
	char buffer[16384] __attribute__((aligned(16)));
	ssize_t len;

	COSY_START;
	while ((len = cosy_scan_dir(directory, buffer, sizeof(buffer), AT_SYMLINK_NOFOLLOW)) > 0)
		for (ssize_t at = 0; at < len;) {
			const struct cosy_dirent *entry = (const struct cosy_dirent *)(buffer + at);
			const struct stat *stat = (const struct stat *)entry->stat;

			if (!entry->error) {
				entries++;
				bytes += (unsigned long)stat->st_size;
				names += (unsigned char)entry->name[0];
			}
			at += entry->reclen;
		}
	COSY_END;
	close(directory);
	found->entries += entries;
	found->bytes += bytes;
	found->names += names;
}

#else

static void list(const char *name, struct found *found)
{
	DIR *directory = opendir(name);
	struct dirent *entry;
	struct stat stat;

	while (directory && (entry = readdir(directory)))
		if (!fstatat(dirfd(directory), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW)) {
			found->entries++;
			found->bytes += (unsigned long)stat.st_size;
			found->names += (unsigned char)entry->d_name[0];
		}
	if (directory)
		closedir(directory);
}

#endif

int main(int argc, char **argv)
{
	int passes = argc == 3 ? atoi(argv[2]) : 0;
	struct found found = {0};

	if (passes <= 0)
		return 1;
	for (int i = 0; i < passes; i++)
		list(argv[1], &found);
	printf("%lu %lu %lu\n", found.entries, found.bytes, found.names);
	return found.entries ? 0 : 1;
}
