// SPDX-License-Identifier: MIT
/*
 * verify.c - goes over COUNT entries of a list as an installer does, and tells of those whose file
 * is missing: one in two hundred.
 */
#include "process.h"

static long total;

static int entry_verify(int directory, const char *name, long at)
{
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW)) {
		printf("%ld: %s: %s\n", at, name, strerror(errno));
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		printf("%ld: %s: not a file\n", at, name);
		return -1;
	}
	total += st.st_size;
	return 0;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, failed = 0;
	int directory = open(argv[1], O_RDONLY | O_DIRECTORY);

	COSY_START;
	for (long at = 0; at < count; at++) {
		if (entry_verify(directory, at % 200 == 150 ? "missing" : "log", at)) {
			failed++;
			continue;
		}
	}
	COSY_END;
	printf("%ld of %ld failed, %ld bytes\n", failed, count, total);
	return 0;
}
