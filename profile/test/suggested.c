// SPDX-License-Identifier: MIT
/*
 * suggested.c - a loop that pays as a region, for `cosy profile --build`: suggested FILE TURNS
 *
 * It prints a sum of the bytes, so that a test can compare the plain program and the marked one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int turns = argc == 3 ? atoi(argv[2]) : 0, file = turns ? open(argv[1], O_RDONLY) : -1;
	unsigned char bytes[16];
	long all = 0;

	if (file < 0)
		return 1;
	for (int i = 0; i < turns; i++) {
		if (pread(file, bytes, sizeof(bytes), i % 64) != sizeof(bytes))
			return 1;
		all += bytes[i % 16];
	}
	printf("%ld\n", all);
	return 0;
}
