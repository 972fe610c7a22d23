// SPDX-License-Identifier: MIT
// Regions that are empty, or only leave, or have no call at all.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>

static int leave(int n)
{
	COSY_START;
	return n;
	COSY_END;
}

int main(int argc, char **argv)
{
	int sum = argc;

	(void)argv;
	COSY_START;
	COSY_END;
	COSY_START;
	for (int i = 0; i < 10; i++)
		sum += i;
	COSY_END;
	printf("%d %d\n", sum, leave(5));
	return 0;
}
