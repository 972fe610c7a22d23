// SPDX-License-Identifier: MIT
// syscall() with a number that is not a constant.
// expect: native: number that is not a constant
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	volatile long number = argc > 5 ? SYS_getppid : SYS_getpid;
	int same = 0;

	(void)argv;
	COSY_START;
	same = syscall(number) == getpid();
	COSY_END;
	printf("%d\n", same);
	return 0;
}
