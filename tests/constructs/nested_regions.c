// SPDX-License-Identifier: MIT
// Regions within regions, directly and through functions: one compound.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int inner(int n)
{
	int r = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		r += getpid() > 0;
	if (n == 3)
		return -r;
	COSY_END;
	return r * 10;
}

int main(void)
{
	int sum = 0;

	for (int k = 0; k < 3; k++) {
		COSY_START;
		sum += inner(k + 2);
		COSY_START;
		sum = sum * 3 + k;
		if (k == 1)
			continue;
		COSY_END;
		sum += 5;
		COSY_END;
	}
	printf("%d %d\n", sum, inner(4));
	return 0;
}
