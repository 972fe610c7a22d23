// SPDX-License-Identifier: MIT
/* Does copy.h by copy_file_range(2); with whole=1 in as few calls as it takes. */
#define _GNU_SOURCE
#include "copy.h"

static long copy_pieces(int from, int to, long n, long len)
{
	const long left = n * len, most = bench_number("whole", 0) ? left : len;
	long sum = 0;

	while (sum < left) {
		long done = BENCH_TRY(copy_file_range(from, NULL, to, NULL, most, 0));

		if (!done)
			break;
		sum += done;
	}
	return sum;
}
