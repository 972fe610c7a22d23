// SPDX-License-Identifier: MIT
/* cold.c - has a cache whose miss is a region, and hardly ever happens. */
#include "process.h"

static int fd;
static unsigned char cache[256];

__attribute__((noinline)) static int lookup(long x)
{
	char block[256];
	ssize_t got = 0;

	if (x & 0xffff)
		return cache[x & 255];
	COSY_START;
	got = pread(fd, block, sizeof(block), 0);
	if (got > 0)
		memcpy(cache, block, got);
	COSY_END;
	return (int)got;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, sum = 0;

	fd = process_open(argv[1], "log", O_RDONLY);
	for (long i = 0; i < count; i++)
		sum += lookup(i);
	printf("%ld\n", sum);
	return 0;
}
