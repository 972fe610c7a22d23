// SPDX-License-Identifier: MIT
// Sign extension, shifts, rotations, wrap-around and comparisons of all widths.
// expect: compiled
#include <cosy/cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint32_t rotl32(uint32_t x, int n)
{
	return x << n | x >> (-n & 31);
}
static uint64_t rotr64(uint64_t x, int n)
{
	return x >> n | x << (-n & 63);
}

int main(int argc, char **argv)
{
	uint64_t hash = argc;
	uint32_t x = 0x9e3779b9 * argc;
	uint64_t y = 0x9e3779b97f4a7c15 * argc;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 64; i++) {
		x = rotl32(x, i & 31) + i;
		y = rotr64(y, i) ^ x;
		int8_t a = x;
		int16_t b = y;
		int32_t c = y >> 13;
		int64_t d = (int64_t)y >> (i & 63);
		uint8_t e = a * 3;

		hash = hash * 1099511628211u + a + (b << 2) + (c >> (i & 31)) + d + e;
		hash += (a < b) + (c < d) * 2 + ((uint32_t)c < x) * 4 + (y > hash) * 8 +
			(e >= a) * 16;
		hash ^= (uint16_t)(b - a) + (int8_t)(c * 5) + (uint32_t)~d + -e;
	}
	hash += getpid() <= 0;
	COSY_END;
	printf("%lx\n", hash);
	return 0;
}
