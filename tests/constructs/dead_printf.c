// SPDX-License-Identifier: MIT
// A call without a body that is not reached does not count, once optimised.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

enum { DEBUG = 0 };

static void trace(int level, int n)
{
	if (level > 2)
		printf("trace %d\n", n);
}

int main(void)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 5; i++) {
		trace(1, i);
		if (DEBUG)
			printf("i = %d\n", i);
		sum += getpid() > 0;
	}
	COSY_END;
	printf("%d\n", sum);
	return 0;
}
