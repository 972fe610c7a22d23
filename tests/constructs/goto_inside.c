// SPDX-License-Identifier: MIT
// Jumps within the region, forth and back, out of nested loops.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int steps = 0, found = -1;

	COSY_START;
	int i = 0;
retry:
	for (; i < 50; i++)
		for (int j = 0; j < 50; j++) {
			steps++;
			if (i * j == 42 * 7 && getpid() > 0) {
				found = i * 100 + j;
				goto out;
			}
			if (i == 3 && j == 3 && steps < 1000) {
				i = 0;
				goto retry;
			}
		}
out:
	steps += 1;
	COSY_END;
	printf("%d %d\n", steps, found);
	return 0;
}
