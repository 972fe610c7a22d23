// SPDX-License-Identifier: MIT
// Locals with an alignment of their own, in the region and in recursion.
// expect: compiled
#include <cosy/cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static int deep(int n)
{
	_Alignas(128) char local[10];

	local[n % 10] = n;
	if ((uintptr_t)local % 128)
		return -1000;
	return n ? deep(n - 1) + local[n % 10] : read(-1, local, 1);
}

int main(void)
{
	int aligned = 0, sum = 0;
	_Alignas(64) char outside[70];

	outside[5] = 9;
	COSY_START;
	_Alignas(256) char a[300];
	char odd;
	_Alignas(32) int b[3];

	read(-1, &odd, 1);
	read(-1, a, sizeof(a));
	read(-1, b, sizeof(b));
	aligned = ((uintptr_t)a % 256 == 0) + 2 * ((uintptr_t)b % 32 == 0) +
		  4 * ((uintptr_t)outside % 64 == 0);
	outside[6] = outside[5] + (getpid() > 0);
	sum = deep(12);
	COSY_END;
	printf("%d %d %d\n", aligned, sum, outside[6]);
	return 0;
}
