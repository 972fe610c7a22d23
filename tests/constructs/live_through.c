// SPDX-License-Identifier: MIT
// Values that only pass by a region, of types it could not compute with.
// expect: compiled
#include <cosy/cosy.h>
#include <complex.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	double d = argc * 1.5;
	long double ld = argc * 2.25L;
	float f = argc / 3.0f;
	__int128 wide = (__int128)argc << 70;
	int n = 0;

	(void)argv;
	COSY_START;
	n = getpid() > 0 ? argc : 0;
	COSY_END;
	printf("%g %Lg %g %llx %d\n", d, ld, f, (unsigned long long)(wide >> 64), n);
	return 0;
}
