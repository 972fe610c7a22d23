// SPDX-License-Identifier: MIT
// A function with a large local stays one of its own where the frame that it would get into is there many
// times: a thousand such frames are more than the stack.
// expect: native: a call of 'puts'
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int link_read(const char *name)
{
	char target[65536];

	if (readlink(name, target, sizeof(target)) < 0) {
		snprintf(target, sizeof(target), "%s is none", name);
		puts(target);
		return -1;
	}
	return target[0] == '/';
}

static long deep(int depth)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < 3; i++)
		sum += link_read(depth % 500 || i % 2 ? "/proc/self/exe" : "/");
	COSY_END;
	return depth ? sum + deep(depth - 1) : sum;
}

int main(void)
{
	printf("%ld\n", deep(1000));
	return 0;
}
