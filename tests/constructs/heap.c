// SPDX-License-Identifier: MIT
// malloc in a region; memory of the heap from outside is fine.
// expect: native: call of 'malloc': libc's heap is in user space
// guest: static
#include <cosy/cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char *a = calloc(10, 100), *b = NULL;
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 1000; i++)
		a[i] = i;
	for (int i = 0; i < 1000; i += 3)
		sum += a[i] * (getpid() > 0);
	COSY_END;
	COSY_START;
	b = malloc(50);
	strcpy(b, "from a region");
	COSY_END;
	printf("%d %s\n", sum, b);
	free(a);
	free(b);
	return 0;
}
