// SPDX-License-Identifier: MIT
// 128-bit division is a call of libgcc's.
// expect: native: 128-bit division
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned __int128 a = (unsigned __int128)argc << 100;

	(void)argv;
	COSY_START;
	a /= getpid() > 0 ? 7 * argc : 1;
	COSY_END;
	printf("%lx\n", (long)a);
	return 0;
}
