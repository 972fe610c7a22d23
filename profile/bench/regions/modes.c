// SPDX-License-Identifier: MIT
/* modes.c - gives files a mode and a time, as tar does after it has unpacked: modes TURNS FILE... */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	int turns = argc > 2 ? atoi(argv[1]) : 0;
	long set = 0;

	for (int turn = 0; turn < turns; turn++)
		for (int i = 2; i < argc; i++) {
			struct timespec times[2] = {
				{.tv_sec = 1700000000 + turn},
				{.tv_sec = 1600000000 + i},
			};

			if (chmod(argv[i], (i + turn) & 1 ? 0644 : 0640) ||
			    utimensat(AT_FDCWD, argv[i], times, 0)) {
				perror(argv[i]);
				return 1;
			}
			set++;
		}
	printf("%ld\n", set);
	return 0;
}
