// SPDX-License-Identifier: MIT
// read(fd, &c, 1): the byte, the end, an error; the byte outlives the region.
// expect: compiled
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count_lines(int fd, char *last)
{
	char c = '?';
	int lines = 0;
	ssize_t n;

	COSY_START;
	while ((n = read(fd, &c, 1)) == 1)
		lines += c == '\n';
	if (n < 0)
		lines = -errno;
	COSY_END;
	*last = c;
	return lines;
}

static int inside(int fd)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 5; i++) {
		signed char c = 7;
		ssize_t n = read(fd, &c, 1);
		sum = sum * 3 + c + n;
	}
	COSY_END;
	return sum;
}

/* Copies a byte in a region that writes it, too, so the read is not all that it does. */
static int copied(int from, int to)
{
	unsigned char c;
	int n = 0;

	COSY_START;
	while (read(from, &c, 1) == 1) {
		c ^= 0x80;
		n += write(to, &c, 1);
	}
	COSY_END;
	return n;
}

int main(void)
{
	char name[] = "/tmp/cosy-bytes-XXXXXX", last;
	int fd = mkstemp(name), lines;

	unlink(name);
	if (fd < 0 || write(fd, "one\ntwo\n\xff\x80z", 11) != 11)
		return 1;
	lseek(fd, 0, SEEK_SET);
	lines = count_lines(fd, &last);
	printf("%d %c\n", lines, last);
	lines = count_lines(fd, &last);
	printf("%d %c\n", lines, last);
	lines = count_lines(-1, &last);
	printf("%d %c\n", lines, last);
	lseek(fd, 8, SEEK_SET);
	printf("%d\n", inside(fd));
	lseek(fd, 0, SEEK_SET);
	printf("%d\n", copied(fd, open("/dev/null", O_WRONLY)));
	return 0;
}
