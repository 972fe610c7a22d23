// SPDX-License-Identifier: MIT
// memcpy, memmove, memset and memcmp: constant and variable sizes, overlapping.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char a[300], b[300];
	unsigned hash = 0;
	int order = 0;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 300; i++)
		a[i] = i * 7;
	memset(b, 'x', sizeof(b));
	for (int n = 0; n < 70; n++) {
		memcpy(b + n, a, n);
		memmove(a + 3, a, n + argc * 100);
		memmove(a, a + 2, n);
		memset(b + 200, n, argc + n);
		order = order * 3 + (memcmp(a, b, n) < 0) - (memcmp(a + n, b, 100) > 0);
	}
	memcpy(b, a, 8);
	memcpy(b + 9, a + 1, 13);
	memcpy(b + 30, a + 50, 64);
	memcpy(b + 100, a + 100, 65);
	memset(b + 180, 0xab, 33);
	order += memcmp(b, a, 8) == 0;
	order += memcmp(b + 100, a + 101, 4) == 0;
	for (int i = 0; i < 300; i++)
		hash = hash * 31 + a[i] * 3 + b[i];
	hash += getpid() <= 0;
	COSY_END;
	printf("%u %d\n", hash, order);
	return 0;
}
