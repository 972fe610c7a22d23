// SPDX-License-Identifier: MIT
/* newer.c - counts files that are not older than a given one: newer GIVEN TURNS FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	int turns = argc > 3 ? atoi(argv[2]) : 0;
	struct stat than, st;
	long newer = 0;

	if (!turns || stat(argv[1], &than)) {
		perror("newer");
		return 1;
	}
	for (int turn = 0; turn < turns; turn++)
		for (int i = 3; i < argc; i++)
			if (!stat(argv[i], &st) && st.st_mtime >= than.st_mtime)
				newer++;
	printf("%ld\n", newer);
	return 0;
}
