// SPDX-License-Identifier: MIT
/* rotate.c - renames logs to the next number and removes the last: rotate LOG TURNS */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEPT 9

int main(int argc, char **argv)
{
	int turns = argc == 3 ? atoi(argv[2]) : 0;
	char names[KEPT + 1][256];
	long renamed = 0;

	for (int i = 0; i <= KEPT; i++)
		snprintf(names[i], sizeof(names[i]), i ? "%s.%d" : "%s", argv[1], i);
	for (int turn = 0; turn < turns; turn++) {
		int fd = open(names[0], O_WRONLY | O_CREAT, 0644);

		if (fd < 0) {
			perror(names[0]);
			return 1;
		}
		close(fd);
		unlink(names[KEPT]);
		for (int i = KEPT; i > 0; i--)
			if (!rename(names[i - 1], names[i]))
				renamed++;
	}
	printf("%ld\n", renamed);
	return 0;
}
