// SPDX-License-Identifier: MIT
// Recursion 20,000 deep, with locals on the software stack.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static long down(int n, const int *above)
{
	int local[4] = {n, above[0] + 1, above[1], n ^ above[2]};

	if (n == 0)
		return local[1] + (getpid() > 0);
	return down(n - 1, local) + local[3] % 3;
}

int main(void)
{
	int zero[4] = {0};
	long r = 0;

	COSY_START;
	r = down(20000, zero);
	COSY_END;
	printf("%ld\n", r);
	return 0;
}
