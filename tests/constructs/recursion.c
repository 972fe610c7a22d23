// SPDX-License-Identifier: MIT
// Recursion with live values across the calls, mutual recursion, and locals.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int odd(unsigned n);
static int even(unsigned n)
{
	return n == 0 ? getpid() > 0 : odd(n - 1);
}
static int odd(unsigned n)
{
	return n == 0 ? 0 : even(n - 1);
}

/* Has locals whose address is taken, alive across the recursive calls. */
static int permute(int *set, int n, int k, int *sum)
{
	int copy[6], count = 0;

	if (k == n) {
		for (int i = 0; i < n; i++)
			*sum = *sum * 3 + set[i];
		return 1;
	}
	for (int i = 0; i < n; i++)
		copy[i] = set[i];
	for (int i = k; i < n; i++) {
		int t = copy[k];
		copy[k] = copy[i];
		copy[i] = t;
		count += permute(copy, n, k + 1, sum);
	}
	return count;
}

int main(int argc, char **argv)
{
	long f = 0;
	int e = 0, p = 0, sum = argc;
	int set[5] = {1, 2, 3, 4, 5};

	(void)argv;
	COSY_START;
	f = fib(15);
	e = even(101) * 2 + even(100);
	p = permute(set, 5, 0, &sum);
	COSY_END;
	printf("%ld %d %d %d\n", f, e, p, sum);
	return 0;
}
