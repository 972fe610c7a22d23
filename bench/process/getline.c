// SPDX-License-Identifier: MIT
/* getline.c - copies COUNT lines, each taken from a block that is filled when it is used up. */
#include "process.h"

struct reader {
	int fd;
	size_t at, used;
	char block[1024];
};

static int reader_get(struct reader *r)
{
	if (r->at == r->used) {
		ssize_t got;

		COSY_START;
		got = read(r->fd, r->block, sizeof(r->block));
		COSY_END;
		if (got <= 0)
			return -1;
		r->at = 0;
		r->used = got;
	}
	return (unsigned char)r->block[r->at++];
}

static size_t reader_line(struct reader *r, char *line, size_t size)
{
	size_t length = 0;

	while (length < size) {
		int c = reader_get(r);

		if (c < 0)
			break;
		line[length++] = c;
		if (c == '\n')
			break;
	}
	return length;
}

int main(int argc, char **argv)
{
	int to = process_open(argv[1], "copy", O_WRONLY | O_CREAT | O_TRUNC);
	long count = argc > 2 ? atol(argv[2]) : 0, bytes = 0;
	struct reader r = {.fd = process_open(argv[1], "log", O_RDONLY)};
	char line[256];

	for (long i = 0; i < count; i++) {
		size_t length = reader_line(&r, line, sizeof(line));

		if (!length) {
			lseek(r.fd, 0, SEEK_SET);
			continue;
		}
		COSY_START;
		bytes += write(to, line, length);
		COSY_END;
	}
	printf("%ld\n", bytes);
	return 0;
}
