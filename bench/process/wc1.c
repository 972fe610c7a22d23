// SPDX-License-Identifier: MIT
/* wc1.c - counts lines and words of a file that it reads byte by byte, COUNT bytes of it. */
#include "process.h"

int main(int argc, char **argv)
{
	int fd = process_open(argv[1], "log", O_RDONLY), in_word = 0;
	long count = argc > 2 ? atol(argv[2]) : 0, lines = 0, words = 0, bytes = 0;
	char c;

	COSY_START;
	while (bytes < count && read(fd, &c, 1) == 1) {
		bytes++;
		if (c == '\n')
			lines++;
		if (c == ' ' || c == '\n' || c == '\t') {
			in_word = 0;
		} else if (!in_word) {
			in_word = 1;
			words++;
		}
	}
	COSY_END;
	printf("%ld %ld %ld\n", lines, words, bytes);
	return 0;
}
