// SPDX-License-Identifier: MIT
/* sum.c - makes a checksum that rotates and adds, of COUNT blocks of 4 KB. */
#include "process.h"

int main(int argc, char **argv)
{
	int fd = process_open(argv[1], "log", O_RDONLY);
	long count = argc > 2 ? atol(argv[2]) : 0;
	unsigned int a = 0x67452301, b = 0xefcdab89;
	unsigned int words[1024];

	COSY_START;
	for (long round = 0; round < count; round++) {
		ssize_t got = pread(fd, words, sizeof(words), round % 64 * sizeof(words));

		for (ssize_t i = 0; i < got / 4; i++) {
			a += ((b << 7 | b >> 25) ^ words[i]) + 0x5a827999;
			b ^= a << 11 | a >> 21;
		}
	}
	COSY_END;
	printf("%08x%08x\n", a, b);
	return 0;
}
