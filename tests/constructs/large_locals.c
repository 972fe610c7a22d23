// SPDX-License-Identifier: MIT
// Locals of 200 KB in a region, and of 100 KB around it.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned run(int seed)
{
	unsigned char outside[100000];
	unsigned sum = 0;

	memset(outside, seed, sizeof(outside));
	COSY_START;
	unsigned inside[50000];

	for (int i = 0; i < 50000; i++)
		inside[i] = i * seed + outside[i * 2];
	for (int i = 0; i < 50000; i += 7)
		sum = sum * 3 + inside[i];
	sum += getpid() <= 0;
	COSY_END;
	return sum;
}

int main(void)
{
	printf("%u %u\n", run(3), run(4));
	return 0;
}
