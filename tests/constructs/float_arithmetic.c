// SPDX-License-Identifier: MIT
// Floating-point arithmetic.
// expect: native: floating-point
// guest: static
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	double sum = argc;

	(void)argv;
	COSY_START;
	for (int i = 0; i < 10; i++)
		sum += i * 0.5 + (getpid() > 0);
	COSY_END;
	printf("%g\n", sum);
	return 0;
}
