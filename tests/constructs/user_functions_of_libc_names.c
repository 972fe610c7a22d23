// SPDX-License-Identifier: MIT
// A static function with the name of libc's is the user's own.
// expect: compiled
// flags: -fno-builtin
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static int dup3(int a, int b, int c)
{
	return a * 100 + b * 10 + c;
}

static unsigned long strnlen(const char *s, unsigned long n)
{
	return s[0] + n;
}

int main(void)
{
	int r = 0;

	COSY_START;
	r = dup3(1, 2, 3) + strnlen("a", 5) + (getpid() > 0);
	COSY_END;
	printf("%d\n", r);
	return 0;
}
