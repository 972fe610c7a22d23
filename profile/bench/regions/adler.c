// SPDX-License-Identifier: MIT
/* adler.c - prints the Adler-32 of files, as zlib has it: adler FILE... */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define MODULUS 65521
#define BYTES	5552 /* that are added before the sums could overflow */

static uint32_t adler_add(uint32_t adler, const unsigned char *at, size_t size)
{
	uint32_t low = adler & 0xffff, high = adler >> 16;

	while (size) {
		size_t some = size < BYTES ? size : BYTES;

		size -= some;
		while (some--) {
			low += *at++;
			high += low;
		}
		low %= MODULUS;
		high %= MODULUS;
	}
	return high << 16 | low;
}

int main(int argc, char **argv)
{
	static unsigned char block[65536];

	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		uint32_t adler = 1;
		ssize_t got;

		if (fd < 0) {
			perror(argv[i]);
			return 1;
		}
		while ((got = read(fd, block, sizeof(block))) > 0)
			adler = adler_add(adler, block, got);
		if (got < 0) {
			perror(argv[i]);
			return 1;
		}
		printf("%08x %s\n", adler, argv[i]);
		close(fd);
	}
	return 0;
}
