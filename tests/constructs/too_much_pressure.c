// SPDX-License-Identifier: MIT
// A frame of spills larger than BPF's 512 bytes, unless functions are called
// rather than inlined.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

#define EACH(op)                                                                                   \
	op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13)    \
		op(14) op(15) op(16) op(17) op(18) op(19) op(20) op(21) op(22) op(23) op(24)
#define DECLARE(n) long v##n = seed * (n + 3);
#define MIX(n)	   v##n = v##n * 31 + (seed ^ v##n >> 7);
#define SUM(n)	   r = r * 17 + v##n;

static long mix(long seed)
{
	long r = 0;
	EACH(DECLARE)
	for (int i = 0; i < 9; i++) {
		EACH(MIX)
		seed += getpid() > 0;
	}
	EACH(SUM)
	return r;
}

int main(int argc, char **argv)
{
	long a = argc, b = 2, c = 3, d = 4, e = 5;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 3; i++) {
		a ^= mix(b);
		b ^= mix(c);
		c ^= mix(d);
		d ^= mix(e);
		e ^= mix(a);
	}
	COSY_END;
	printf("%lx %lx %lx %lx %lx\n", a, b, c, d, e);
	return 0;
}
