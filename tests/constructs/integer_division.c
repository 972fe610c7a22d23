// SPDX-License-Identifier: MIT
// Signed and unsigned division and remainder, 32 and 64 bits, all sign pairs.
// expect: compiled
#include <cosy/cosy.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	static const long values[] = {1, -1, 7, -7, 100, -100, INT_MAX, LONG_MAX, LONG_MIN + 1, 3};
	long hash = 0;

	COSY_START;
	for (int i = 0; i < 10; i++)
		for (int j = 0; j < 10; j++) {
			long a = values[i], b = values[j];
			int c = a, d = b;

			hash = hash * 31 + a / b + a % b * 3;
			hash = hash * 31 + (unsigned long)a / (unsigned long)b +
			       (unsigned long)a % (unsigned long)b;
			if (d && !(c == INT_MIN && d == -1)) {
				hash = hash * 31 + c / d + c % d * 5;
				hash = hash * 31 + (unsigned)c / (unsigned)d +
				       (unsigned)c % (unsigned)d;
			}
			hash += a / 10 + a % 1000 + (unsigned)c / 7 + c % 16 + (short)c / 3;
		}
	hash += getpid() <= 0;
	COSY_END;
	printf("%ld\n", hash);
	return 0;
}
