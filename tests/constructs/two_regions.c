// SPDX-License-Identifier: MIT
// Several regions in a function, one in a loop, one after a condition, with
// values handed from one to the next.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int a = argc, b = 0, c = 0;
	int scratch[10];

	(void)argv;
	COSY_START;
	a += getpid() > 0;
	for (int i = 0; i < 10; i++)
		scratch[i] = a * i;
	COSY_END;
	for (int i = 0; i < 4; i++) {
		COSY_START;
		b += a * i + scratch[i];
		c = b;
		COSY_END;
		c++;
	}
	if (b > 3) {
		COSY_START;
		c += b * a - getppid() * 0 + scratch[9];
		COSY_END;
	}
	printf("%d %d %d\n", a, b, c);
	return 0;
}
