// SPDX-License-Identifier: MIT
// A call in a counted loop.
// expect: compiled
// guest: static
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	pid_t self = getpid();
	long same = 0;

	COSY_START;
	for (int i = 0; i < 100; i++)
		same += getpid() == self;
	COSY_END;
	printf("%ld\n", same);
	return 0;
}
