// SPDX-License-Identifier: MIT
// User functions: static, inline, in a chain, noinline, with out-parameters.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static inline int twice(int x)
{
	return x * 2;
}
static __attribute__((noinline)) int thrice(int x)
{
	return x * 3;
}
static int chain(int x)
{
	return twice(thrice(x)) + (getpid() > 0);
}

static int divide(int a, int b, int *rest)
{
	if (b == 0)
		return -1;
	*rest = a % b;
	return a / b;
}

int public_function(int x)
{
	return chain(x) - 1;
}

int main(int argc, char **argv)
{
	int rest = 0, sum = 0;

	(void)argv;
	COSY_START;
	for (int i = -3; i < 4; i++)
		sum += chain(i) * 100 + divide(1000 + argc, i, &rest) + rest + public_function(i);
	COSY_END;
	printf("%d %d\n", sum, rest);
	return 0;
}
