// SPDX-License-Identifier: MIT
// Functions that are resolved when the program starts: beside a region, one
// whose address it takes, one that holds it, one of which each variant does.
// GNU ld crashes when plain clang's code of it is linked with LTO.
// expect: compiled
// flags: -fno-lto
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int add_five(int n)
{
	return n + 5;
}

static void *choose(void)
{
	return add_five;
}

int resolved(int n) __attribute__((ifunc("choose")));

static int sum(int n)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		sum += (getppid() >= 0) * i;
	COSY_END;
	return sum;
}

static void *choose_sum(void)
{
	return sum;
}

int resolved_sum(int n) __attribute__((ifunc("choose_sum")));

__attribute__((target_clones("avx2", "default"))) int triple(int n)
{
	return 3 * n;
}

__attribute__((target_clones("avx2", "default"))) int variants(int n)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		sum += (getppid() >= 0) * i;
	COSY_END;
	return sum;
}

int main(int argc, char **argv)
{
	int (*f)(int) = NULL, (*g)(int) = NULL;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 9; i++) {
		f = getppid() >= 0 ? resolved : NULL;
		g = getppid() >= 0 ? triple : NULL;
	}
	COSY_END;
	printf("%d %d %d\n", f == resolved, f(argc), resolved(argc));
	printf("%d %d %d\n", g == triple, g(argc), triple(argc));
	printf("%d %d %d\n", sum(9), resolved_sum(9), variants(9));
	return 0;
}
