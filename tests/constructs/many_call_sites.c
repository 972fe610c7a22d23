// SPDX-License-Identifier: MIT
// A large function called from many places is called, not inlined; it has
// locals, globals and errno.
// expect: compiled
#include <cosy/cosy.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int calls;

static unsigned work(const char *text, int n)
{
	char buf[64];
	unsigned sum = 0;

	calls++;
#pragma clang loop unroll(full)
	for (int i = 0; i < 60; i++) {
		buf[i] = text[i % 5] + n * i;
		sum = sum * 31 + buf[i] * (i & n);
		if (sum % 7 == 3)
			sum += strlen(text) + buf[i / 2];
		else if (sum % 5 == 2)
			sum ^= buf[i] << 3;
		else
			sum -= i;
	}
	memset(buf, n, sizeof(buf));
	if (close(-n - 1) < 0)
		sum += errno;
	return sum + buf[63];
}

#define TEN(x) x x x x x x x x x x

int main(void)
{
	unsigned sum = 0, n = 0;

	COSY_START;
	TEN(TEN(sum ^= work("hello", n++);))
	COSY_END;
	printf("%u %d\n", sum, calls);
	return 0;
}
