// SPDX-License-Identifier: MIT
/* sizes.c - adds up the sizes of a directory's files, and finds the newest, COUNT times. */
#include <dirent.h>

#include "process.h"

static char names[512][32];

static long sizes_add(const char *directory, int entries, time_t than, int *newer)
{
	int at = open(directory, O_RDONLY | O_DIRECTORY);
	long sum = 0;

	COSY_START;
	for (int i = 0; i < entries; i++) {
		struct stat st;

		if (fstatat(at, names[i], &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(st.st_mode))
			sum += st.st_size;
		*newer += st.st_mtime > than;
	}
	COSY_END;
	close(at);
	return sum;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, sum = 0;
	int entries = 0, newer = 0;
	DIR *directory = opendir(argv[1]);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)) && entries < 512)
		if (strlen(entry->d_name) < sizeof(names[0]))
			strcpy(names[entries++], entry->d_name);
	for (long i = 0; i < count; i++)
		sum += sizes_add(argv[1], entries, 1000000000, &newer);
	closedir(directory);
	printf("%d %d\n", sum > 0, newer > 0);
	return 0;
}
