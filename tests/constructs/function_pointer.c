// SPDX-License-Identifier: MIT
// Function pointers that are constants in the end.
// expect: compiled
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
static int (*const table[])(int) = {inc, sqr};

static int apply(int (*f)(int), int x)
{
	return f(x);
}

static int map(int *a, int n, int (*f)(int))
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += a[i] = f(a[i]);
	return sum;
}

int main(void)
{
	int a[4] = {1, 2, 3, 4}, sum = 0;

	COSY_START;
	sum = apply(inc, 10) + apply(sqr, 10) + table[1](5);
	sum += map(a, 4, sqr) + map(a, 4, table[0]) + (getpid() > 0);
	COSY_END;
	printf("%d %d\n", sum, a[3]);
	return 0;
}
