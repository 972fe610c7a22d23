// SPDX-License-Identifier: MIT
/* wc.c - counts lines, words and bytes of COUNT blocks of 4 KB. */
#include "process.h"

int main(int argc, char **argv)
{
	int fd = process_open(argv[1], "log", O_RDONLY), in_word = 0;
	long count = argc > 2 ? atol(argv[2]) : 0, lines = 0, words = 0, bytes = 0;
	char block[4096];

	COSY_START;
	for (long round = 0; round < count; round++) {
		ssize_t got = pread(fd, block, sizeof(block), round % 64 * sizeof(block));

		for (ssize_t i = 0; i < got; i++) {
			int space = block[i] == ' ' || block[i] == '\n';

			lines += block[i] == '\n';
			words += in_word && space;
			in_word = !space;
		}
		bytes += got;
	}
	COSY_END;
	printf("%ld %ld %ld\n", lines, words, bytes);
	return 0;
}
