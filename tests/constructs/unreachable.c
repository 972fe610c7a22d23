// SPDX-License-Identifier: MIT
// Paths that the program says it never takes.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int kind(int n)
{
	switch (n & 3) {
	case 0:
		return 5;
	case 1:
		return 6;
	case 2:
		return 8;
	case 3:
		return getpid() > 0;
	}
	__builtin_unreachable();
}

int main(void)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 9; i++) {
		if (i > 100)
			__builtin_trap();
		sum = sum * 3 + kind(i);
	}
	COSY_END;
	printf("%d\n", sum);
	return 0;
}
