// SPDX-License-Identifier: MIT
// expect: native: alloca() or a variable length array
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc * 20, sum = 0;

	(void)argv;
	COSY_START;
	int a[n];
	for (int i = 0; i < n; i++)
		a[i] = i + (getpid() > 0);
	for (int i = 0; i < n; i++)
		sum += a[i] * i;
	COSY_END;
	printf("%d\n", sum);
	return 0;
}
