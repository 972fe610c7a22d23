// SPDX-License-Identifier: MIT
// Counting, swapping and reversing bits; byte order.
// expect: compiled
#include <cosy/cosy.h>
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long sum = argc;
	uint64_t x = 0x123456789abcdef0u * argc;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 64; i++) {
		x = x * 6364136223846793005u + 1;
		uint32_t w = x >> 20;
		sum = sum * 3 + __builtin_ctzll(x | 1ull << i) + __builtin_ctz(w | 0x80000000);
		sum += __builtin_clzll(x | 1) + __builtin_clz(w | 1) + __builtin_popcountll(x);
		sum += __builtin_ffs(w) + __builtin_ffsll(x) + __builtin_parity(w);
		sum += __builtin_bswap64(x) % 1000 + __builtin_bswap32(w) % 999 +
		       __builtin_bswap16(w);
		sum += htonl(w) % 77 + ntohs(x) + abs((int)w) % 5 + labs((long)x) % 7;
		sum += __builtin_bitreverse32(w) % 1001 + __builtin_bitreverse64(x) % 1003;
		sum ^= __builtin_clrsb((int)w);
	}
	sum += getpid() <= 0;
	COSY_END;
	printf("%ld\n", sum);
	return 0;
}
