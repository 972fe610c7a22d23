// SPDX-License-Identifier: MIT
// Atomic minimum and maximum, which only compare-exchange can do.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int low = 100, high = -100;
	unsigned char small = 50;

	COSY_START;
	for (int i = 0; i < 40; i++) {
		int x = (i * 37) % 81 - 40 + (getpid() <= 0);

		__atomic_fetch_min(&low, x, __ATOMIC_SEQ_CST);
		__atomic_fetch_max(&high, x, __ATOMIC_SEQ_CST);
		__atomic_fetch_max(&small, (unsigned char)(x * 3), __ATOMIC_SEQ_CST);
	}
	COSY_END;
	printf("%d %d %d\n", low, high, small);
	return 0;
}
