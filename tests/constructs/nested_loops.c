// SPDX-License-Identifier: MIT
// while, do-while and for, nested, with break and continue.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned hash = argc;

	(void)argv;
	COSY_START;
	int a = 10;
	while (a--) {
		int b = 0;
		do {
			for (int c = a; c < 12; c += 2) {
				if (c == 5)
					continue;
				if (c > 9 && b == 2)
					break;
				hash = hash * 31 + c * b + (getpid() > 0);
			}
		} while (++b < 4);
		if (a == 2)
			break;
	}
	COSY_END;
	printf("%u\n", hash);
	return 0;
}
