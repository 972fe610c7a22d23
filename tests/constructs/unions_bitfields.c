// SPDX-License-Identifier: MIT
// Unions, and bit-fields of odd widths across storage units.
// expect: compiled
#include <cosy/cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct bits {
	unsigned a : 3;
	int b : 7;
	unsigned long c : 33;
	unsigned char d : 1;
	int e : 20;
};

union mix {
	uint64_t word;
	uint32_t half[2];
	uint8_t byte[8];
	struct {
		int16_t lo, hi;
	} part;
};

int main(int argc, char **argv)
{
	struct bits s = {5, -3, 1, 1, -7};
	union mix m = {.word = 0x0102030405060708};
	long sum = argc;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 20; i++) {
		s.a += i;
		s.b -= s.a;
		s.c = s.c * 5 + s.b;
		s.d ^= getpid() > 0;
		s.e += s.b * 100;
		m.byte[i & 7] += s.a;
		m.half[i & 1] ^= s.e;
		m.part.hi -= s.b;
		sum = sum * 31 + s.c + m.part.lo;
	}
	COSY_END;
	printf("%d %d %lu %d %d %lx %ld\n", s.a, s.b, (unsigned long)s.c, s.d, s.e, (long)m.word,
	       sum);
	return 0;
}
