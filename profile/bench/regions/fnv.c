// SPDX-License-Identifier: MIT
/* fnv.c - prints a hash of a byte of every sixteen of files: fnv FILE... */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t hash_file(int fd)
{
	uint64_t hash = 0xcbf29ce484222325;
	unsigned char block[512];
	ssize_t got;

	while ((got = read(fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < got; i += 16)
			hash = (hash ^ block[i]) * 0x100000001b3;
	return hash;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);

		if (fd < 0) {
			perror(argv[i]);
			return 1;
		}
		printf("%016lx %s\n", hash_file(fd), argv[i]);
		close(fd);
	}
	return 0;
}
