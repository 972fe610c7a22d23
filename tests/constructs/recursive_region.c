// SPDX-License-Identifier: MIT
// Functions that call themselves from within their region, and around it.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int inside(int n, int *sum)
{
	int r = 0, local[3] = {n, n * 2, n * 3};

	COSY_START;
	if (n <= 0)
		return getpid() > 0;
	local[1] += inside(n - 1, &local[2]);
	r = local[1] + inside(n - 2, sum);
	*sum += local[2] % 10;
	COSY_END;
	return r + local[0];
}

static int around(int n)
{
	char buf[50];
	int r = 0;

	COSY_START;
	for (int i = 0; i < 50; i++)
		buf[i] = n * i + (getpid() > 0);
	COSY_END;
	if (n > 0)
		r = around(n - 1);
	COSY_START;
	for (int i = 0; i < 50; i++)
		r = r * 3 + buf[i];
	COSY_END;
	return r;
}

int main(void)
{
	int sum = 0;
	int r = inside(8, &sum);

	printf("%d %d %d\n", r, sum, around(20));
	return 0;
}
