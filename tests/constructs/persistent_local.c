// SPDX-License-Identifier: MIT
// A local used only by a region keeps its contents from one run to the next.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char seen[64];
	int first = 1, repeats = 0;

	for (int i = 0; i < 200; i++) {
		COSY_START;
		if (first) {
			memset(seen, 0, sizeof(seen));
			first = 0;
		}
		int at = (i * 17 + (getpid() <= 0)) % 64;
		repeats += seen[at];
		seen[at] = 1;
		COSY_END;
	}
	printf("%d\n", repeats);
	return 0;
}
