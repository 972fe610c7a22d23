// SPDX-License-Identifier: MIT
/* sum.c - prints a sum of the words of files: sum FILE... */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		uint32_t words[1024], sum = 0;
		ssize_t got;

		if (fd < 0) {
			perror(argv[i]);
			return 1;
		}
		while ((got = read(fd, words, sizeof(words))) > 0)
			for (ssize_t w = 0; w < got / 4; w++)
				sum += words[w];
		printf("%08x %s\n", sum, argv[i]);
		close(fd);
	}
	return 0;
}
