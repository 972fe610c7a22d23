// SPDX-License-Identifier: MIT
// assert, which holds, and abort, which is not reached, do not stop a region
// from being compiled.
// expect: compiled
#include <cosy/cosy.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	int n = 0;

	COSY_START;
	for (int i = 0; i < 20; i++) {
		n += getpid() > 0;
		assert(n == i + 1);
		if (n < 0)
			abort();
	}
	COSY_END;
	printf("%d\n", n);
	return 0;
}
