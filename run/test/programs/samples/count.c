// SPDX-License-Identifier: MIT
/* Counts the lines of standard input, byte by byte, and what is left of a file. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int lines = 0, fd = open(argc > 1 ? argv[1] : "small", O_RDONLY);
	char byte;

	while (read(0, &byte, 1) == 1)
		lines += byte == '\n';
	while (read(fd, &byte, 1) == 1)
		lines += byte == '\n';
	printf("%d %ld\n", lines, (long)lseek(fd, 0, SEEK_CUR));
	return lines != 12000;
}
