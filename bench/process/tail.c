// SPDX-License-Identifier: MIT
/* tail.c - finds the end of a file from its end in small blocks, COUNT times. */
#include "process.h"

static off_t last_lines(int fd, int lines)
{
	char block[512];
	off_t at = lseek(fd, 0, SEEK_END);

	COSY_START;
	while (at > 0) {
		size_t size = at < (off_t)sizeof(block) ? (size_t)at : sizeof(block);

		at -= size;
		if (pread(fd, block, size, at) != (ssize_t)size)
			return -1;
		for (size_t i = size; i-- > 0;)
			if (block[i] == '\n' && lines-- == 0)
				return at + i + 1;
	}
	COSY_END;
	return 0;
}

int main(int argc, char **argv)
{
	int fd = process_open(argv[1], "log", O_RDONLY);
	long count = argc > 2 ? atol(argv[2]) : 0, sum = 0;

	for (long i = 0; i < count; i++)
		sum += last_lines(fd, i % 100);
	printf("%ld\n", sum);
	return 0;
}
