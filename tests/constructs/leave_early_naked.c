// SPDX-License-Identifier: MIT
// A function whose own assembly returns seems to have no way out.
// expect: native: inline assembly
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((naked, noinline)) static void nothing(void)
{
	__asm__("ret");
}

static long count(int n)
{
	long made = 0;

	COSY_START;
	for (int i = 0; i < n; i++)
		made += getppid() > 0;
	nothing();
	printf("%ld\n", made);
	COSY_END;
	return made;
}

int main(void)
{
	printf("%ld\n", count(3) + count(5));
	return 0;
}
