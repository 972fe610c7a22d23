// SPDX-License-Identifier: MIT
/* Reads the first byte of a file until it is '1', all in one region: it runs while packages are upgraded. */
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	unsigned long reads = 0;
	char byte = '0';

	COSY_START;
	while (byte != '1' && pread(fd, &byte, 1, 0) == 1)
		reads++;
	COSY_END;
	printf("the byte is %c, after more than one read: %s\n", byte, reads > 1 ? "yes" : "no");
	return byte != '1';
}
