// SPDX-License-Identifier: MIT
// A function pointer that only the run knows: it is volatile.
// expect: compiled
// expect with -fexceptions: native: may throw
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int inc(int x)
{
	return x + 1;
}
static int sqr(int x)
{
	return x * x;
}

int main(int argc, char **argv)
{
	int (*volatile f)(int) = argc > 1 ? inc : sqr;
	int sum = 0;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 5; i++)
		sum += f(i) + (getpid() > 0);
	COSY_END;
	printf("%d\n", sum);
	return 0;
}
