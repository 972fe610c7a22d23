// SPDX-License-Identifier: MIT
// Empty inline assembly, which orders the compiler, and none that does more.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int shared;

int main(void)
{
	int sum = 0;

	COSY_START;
	for (int i = 0; i < 10; i++) {
		shared = i;
		__asm__ volatile("" ::: "memory");
		sum += shared;
		__asm__ volatile("" : "+r"(sum));
		__sync_synchronize();
		sum += getpid() > 0;
	}
	COSY_END;
	printf("%d\n", sum);
	return 0;
}
