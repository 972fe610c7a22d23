// SPDX-License-Identifier: MIT
/*
 * own_test.c - reads a file, moves and closes it by functions that stand before this library's: the
 * program's own, or those of a library that is preloaded before this one (own.c).
 */
#include <fcntl.h>

#include "check.h"
#include "raw.h"

#define SIZE  1000
#define READS 100

int main(void)
{
	const char *dir = getenv("TMPDIR");
	char path[200], byte = 0;
	int fd, ends[2];

	snprintf(path, sizeof(path), "%s/cosy-run-own.%d", dir ? dir : "/tmp", getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (int i = 0; i < SIZE; i++)
		CHECK(write(fd, &(char){i}, 1) == 1);
	close(fd);
	fd = open(path, O_RDONLY);
	for (int i = 0; i < READS; i++)
		CHECK(read(fd, &byte, 1) == 1 && byte == (char)i);
	CHECK(lseek(fd, 500, SEEK_SET) == 500);
	CHECK(read(fd, &byte, 1) == 1 && byte == (char)500);
	CHECK(!close(fd));
	CHECK(!pipe(ends) && ends[0] == fd);
	CHECK(write(ends[1], "P", 1) == 1);
	CHECK(read(fd, &byte, 1) == 1 && byte == 'P');
	unlink(path);
	return 0;
}
