// SPDX-License-Identifier: MIT
// Recursive functions with many arguments, structures and a wide result.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

struct triple {
	long a, b, c;
};

static long eight(long a, long b, long c, long d, long e, long f, long g, long h)
{
	if (a <= 0)
		return b + 2 * c + 3 * d + 4 * e + 5 * f + 6 * g + 7 * h;
	return eight(a - 1, c, b + 1, d, f, e, h, g + a) + eight(a - 2, h, g, f, e, d, c, b);
}

static struct triple by_value(struct triple t, int n)
{
	if (n == 0)
		return t;
	struct triple u = by_value((struct triple){t.b, t.c, t.a + n}, n - 1);
	struct triple v = by_value(u, n - 1);
	return (struct triple){u.a + v.c, u.b ^ v.b, u.c - v.a};
}

static __int128 wide(__int128 x, int n)
{
	return n ? wide(x + ((__int128)n << 60), n - 1) + wide(x, n - 1) : x;
}

int main(int argc, char **argv)
{
	long e = 0;
	struct triple t = {argc, 2, 3};
	__int128 w = 0;

	(void)argv;
	COSY_START;
	e = eight(8, argc, 2, 3, 4, 5, 6, getpid() > 0);
	t = by_value(t, 6);
	w = wide(argc, 7);
	COSY_END;
	printf("%ld %ld %ld %ld %lx %lx\n", e, t.a, t.b, t.c, (long)(w >> 64), (long)w);
	return 0;
}
