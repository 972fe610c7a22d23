// SPDX-License-Identifier: MIT
/* fgets.c - copies COUNT lines, each read byte by byte and written at once. */
#include "process.h"

int main(int argc, char **argv)
{
	int from = process_open(argv[1], "log", O_RDONLY);
	int to = process_open(argv[1], "copy", O_WRONLY | O_CREAT | O_TRUNC);
	long count = argc > 2 ? atol(argv[2]) : 0, lines = 0, bytes = 0;
	char line[256];

	COSY_START;
	while (lines < count) {
		size_t length = 0;

		while (length < sizeof(line) && read(from, &line[length], 1) == 1)
			if (line[length++] == '\n')
				break;
		if (!length)
			break;
		if (write(to, line, length) != (ssize_t)length)
			break;
		bytes += length;
		lines++;
	}
	COSY_END;
	printf("%ld %ld\n", lines, bytes);
	return 0;
}
