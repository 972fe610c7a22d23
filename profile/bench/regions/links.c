// SPDX-License-Identifier: MIT
/* links.c - counts where symbolic links lead: links TURNS LINK... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long upwards = 0, absolute = 0, beside = 0, others = 0;
	int turns = argc > 2 ? atoi(argv[1]) : 0;

	for (int turn = 0; turn < turns; turn++)
		for (int i = 2; i < argc; i++) {
			char target[256];
			ssize_t len = readlink(argv[i], target, sizeof(target));

			if (len <= 0)
				others++;
			else if (target[0] == '/')
				absolute++;
			else if (len > 3 && !memcmp(target, "../", 3))
				upwards++;
			else
				beside++;
		}
	printf("%ld upwards, %ld absolute, %ld beside, %ld others\n", upwards, absolute, beside,
	       others);
	return 0;
}
