// SPDX-License-Identifier: MIT
/* watcher.c - looks COUNT times whether one of four files has changed, and changes one now and then. */
#include "process.h"

#define FILES 4

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, changes = 0;
	off_t seen[FILES] = {0};
	char name[FILES][512];
	int fds[FILES];

	for (int i = 0; i < FILES; i++) {
		snprintf(name[i], sizeof(name[i]), "part%d", i);
		fds[i] = process_open(argv[1], name[i], O_WRONLY | O_CREAT | O_TRUNC);
		snprintf(name[i], sizeof(name[i]), "%s/part%d", argv[1], i);
	}
	for (long k = 0; k < count; k++) {
		if (k % 16 == 5 && write(fds[k % FILES], "x", 1) != 1)
			return 1;
		COSY_START;
		for (int i = 0; i < FILES; i++) {
			struct stat st;

			if (!stat(name[i], &st) && st.st_size != seen[i]) {
				changes++;
				seen[i] = st.st_size;
			}
		}
		COSY_END;
	}
	printf("%ld changes\n", changes);
	return 0;
}
