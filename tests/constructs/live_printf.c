// SPDX-License-Identifier: MIT
// printf in the middle of a region.
// expect: native: libc's streams are in user space
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	COSY_START;
	for (int i = 0; i < 3; i++)
		printf("%d %d\n", i, getpid() > 0);
	COSY_END;
	return 0;
}
