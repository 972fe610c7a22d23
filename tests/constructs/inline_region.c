// SPDX-License-Identifier: MIT
// A region in an inline function that is used in several places.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static inline __attribute__((always_inline)) int count(int n, int by)
{
	int r = 0;

	COSY_START;
	for (int i = 0; i < n; i += by)
		r += getpid() > 0;
	COSY_END;
	return r;
}

static int twice(int n)
{
	return count(n, 1) + count(n, 2);
}

int main(void)
{
	printf("%d %d %d\n", count(10, 3), twice(9), count(5, 1));
	return 0;
}
