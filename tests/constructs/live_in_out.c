// SPDX-License-Identifier: MIT
// Inputs and outputs of every width, read and changed.
// expect: compiled
#include <cosy/cosy.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int8_t a = argc - 3;
	uint16_t b = argc + 65530;
	int32_t c = -argc;
	uint32_t d = ~0u - argc;
	int64_t e = -5000000000 * argc;
	uint64_t f = ~0ull - argc;
	bool g = argc > 1, h = argc == 1;
	char *p = argv[0];
	unsigned char u = 200 + argc;
	signed char s = -100 - argc;

	COSY_START;
	getpid();
	a += b;
	b *= 3;
	c -= d;
	d ^= e;
	e += f;
	f >>= 3;
	g = !g;
	h = h && g && getppid() > 0;
	p += 1;
	u += 100;
	s -= 100;
	COSY_END;
	printf("%d %u %d %u %ld %lu %d %d %d %u %d\n", a, b, c, d, e, f, g, h, p == argv[0] + 1, u,
	       s);
	return 0;
}
