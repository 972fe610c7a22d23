// SPDX-License-Identifier: MIT
// Structures returned from within a region, in registers and in memory.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

struct small {
	int a;
	long b;
};
struct large {
	long v[6];
};

static struct small small(int n)
{
	struct small s = {0, 0};

	COSY_START;
	s.a = n;
	s.b = getpid() > 0 ? n * 100L : 0;
	if (n > 2)
		return s;
	s.b++;
	COSY_END;
	return s;
}

static struct large large(struct large in, int n)
{
	COSY_START;
	for (int i = 0; i < 6; i++)
		in.v[i] = in.v[i] * n + (getpid() > 0);
	if (n == 3)
		return in;
	in.v[5] = -1;
	COSY_END;
	return in;
}

int main(void)
{
	struct large l = {{1, 2, 3, 4, 5, 6}};

	for (int i = 1; i < 5; i++) {
		struct small s = small(i);
		l = large(l, i);
		printf("%d %ld %ld %ld\n", s.a, s.b, l.v[0], l.v[5]);
	}
	return 0;
}
