// SPDX-License-Identifier: MIT
/* numbers.c - adds up the numbers in COUNT lines of the log, by a getc of its own. */
#include "process.h"

static struct {
	int fd;
	char *at, *end, buffer[4096];
} input;

static int next(void)
{
	if (input.at == input.end) {
		ssize_t got = read(input.fd, input.buffer, sizeof(input.buffer));

		if (got <= 0)
			return -1;
		input.at = input.buffer;
		input.end = input.buffer + got;
	}
	return (unsigned char)*input.at++;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, sum = 0, lines = 0, number = 0;

	input.fd = process_open(argv[1], "log", O_RDONLY);
	COSY_START;
	while (lines < count) {
		int c = next();

		if (c < 0) {
			if (lseek(input.fd, 0, SEEK_SET) < 0)
				return 1;
		} else if (c >= '0' && c <= '9') {
			number = number * 10 + (c - '0');
		} else {
			sum += number;
			number = 0;
			lines += c == '\n';
		}
	}
	COSY_END;
	printf("%ld %ld\n", lines, sum);
	return 0;
}
