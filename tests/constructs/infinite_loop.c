// SPDX-License-Identifier: MIT
// A loop that only break leaves, and a region that nothing leaves but return.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int search(int n)
{
	COSY_START;
	for (;;) {
		if (n % 97 == 13 && getpid() > 0)
			return n;
		n++;
	}
	COSY_END;
}

int main(void)
{
	int n = 0;

	COSY_START;
	while (1) {
		n += getpid() > 0;
		if (n > 50)
			break;
	}
	COSY_END;
	printf("%d %d\n", n, search(1000));
	return 0;
}
