// SPDX-License-Identifier: MIT
// Arrays inside the region and address-taken ones outside, across iterations.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>

static void fill(unsigned char *p, int n, int seed)
{
	for (int i = 0; i < n; i++)
		p[i] = seed = seed * 137 + 11;
}

int main(void)
{
	unsigned char outer[300];
	int history[4] = {0};
	unsigned sum = 0;

	fill(outer, 300, 1);
	for (int round = 0; round < 4; round++) {
		COSY_START;
		unsigned char inner[200];
		int m[3][4];

		fill(inner, 200, getpid() > 0 ? round : 0);
		for (int i = 0; i < 200; i++)
			outer[i] ^= inner[199 - i];
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 4; j++)
				m[i][j] = outer[i * 40 + j];
		for (int i = 0; i < 12; i++)
			sum = sum * 7 + (&m[0][0])[i];
		history[round] += sum & 0xff;
		COSY_END;
	}
	printf("%u %d %d %d %d %d\n", sum, history[0], history[1], history[2], history[3],
	       outer[50]);
	return 0;
}
