// SPDX-License-Identifier: MIT
// A variadic function of the user's own.
// expect: native: va_start
#include <cosy/cosy.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int sum(int n, ...)
{
	va_list list;
	int r = 0;

	va_start(list, n);
	while (n--)
		r += va_arg(list, int);
	va_end(list);
	return r;
}

int main(void)
{
	int r = 0;

	COSY_START;
	r = sum(3, 1, 2, getpid() > 0);
	COSY_END;
	printf("%d\n", r);
	return 0;
}
