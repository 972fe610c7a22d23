// SPDX-License-Identifier: MIT
// What follows a region that ended early needs values of an outer loop, while the kernel was entered
// at the head of an inner one.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned long find(unsigned long n, unsigned long step)
{
	unsigned long mask = 1;

	COSY_START;
	for (unsigned long i = 0; i < 3; i++) {
		for (unsigned long j = 0, ends = (1 / (step % 7 + 1)) & 3; j < ends; j++)
			for (unsigned long k = 0, turns = i % 6; k < turns; k++)
				getuid();
		if (((getppid() > 0 ? 1 : mask) & 3)) {
			printf("%lu\n", n & mask);
			printf("%lu, %lu\n", i != mask ? n : step, i);
			return 3;
		}
		mask ^= step;
	}
	COSY_END;
	return mask;
}

int main(void)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 6; i++)
		sum += find(100 + i, 2 * i);
	printf("%lu\n", sum);
	return 0;
}
