// SPDX-License-Identifier: MIT
// 128-bit integers: all but division.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

typedef __int128 i128;
typedef unsigned __int128 u128;

int main(int argc, char **argv)
{
	i128 a = (i128)argc << 100 | 12345;
	u128 b = ~(u128)0 - argc;
	unsigned long high = 0;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 20; i++) {
		a = a * 6364136223846793005 + b;
		b ^= a >> (i * 6);
		b = b << 7 | b >> 121;
		a -= a < (i128)b;
		high += (u128)(unsigned long)a * (unsigned long)b >> 64;
	}
	high += getpid() <= 0;
	COSY_END;
	printf("%lx%016lx %lx%016lx %lx\n", (long)(a >> 64), (long)a, (long)(b >> 64), (long)b,
	       high);
	return 0;
}
