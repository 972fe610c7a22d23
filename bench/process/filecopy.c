// SPDX-License-Identifier: MIT
/* filecopy.c - copies a file of COUNT blocks of 4 KB. */
#include "process.h"

int main(int argc, char **argv)
{
	int from = process_open(argv[1], "log", O_RDONLY);
	int to = process_open(argv[1], "copy", O_WRONLY | O_CREAT | O_TRUNC);
	long count = argc > 2 ? atol(argv[2]) : 0, bytes = 0;
	char block[4096];
	ssize_t got;

	COSY_START;
	for (long round = 0; round < count; round++) {
		if (round % 64 == 0) {
			lseek(from, 0, SEEK_SET);
			lseek(to, 0, SEEK_SET);
		}
		got = read(from, block, sizeof(block));
		if (got <= 0)
			break;
		bytes += write(to, block, got);
	}
	COSY_END;
	printf("%ld\n", bytes);
	return 0;
}
