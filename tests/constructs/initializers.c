// SPDX-License-Identifier: MIT
// Compound literals, designated initialisers, comma, conditional chains.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

struct conf {
	int a[6];
	struct {
		char tag;
		long v;
	} sub[2];
	const char *name;
};

static long use(const struct conf *c, int by)
{
	return c->a[2] + c->a[5] * 10 + c->sub[1].v * by + c->name[0];
}

int main(int argc, char **argv)
{
	long sum = 0;
	int i, j;

	(void)argv;
	COSY_START;
	struct conf c = {.a = {[2] = argc, [5] = 7}, .sub[1] = {'x', 40}, .name = "conf"};

	sum = use(&c, 2);
	sum += use(&(struct conf){.a[2] = getpid() > 0, .sub = {{'a', 1}, {'b', 2}}, .name = "lit"},
		   3);
	for (i = 0, j = 10; i < j; i++, j -= 2)
		sum += (i & 1) ? (sum++, i) : i == 2 ? j : -1;
	int *p = (int[]){1, 2, 3, argc};
	sum += p[3] * 1000 + p[1], sum ^= 5;
	COSY_END;
	printf("%ld\n", sum);
	return 0;
}
