// SPDX-License-Identifier: MIT
/* Does read1.h by io_uring: 32 reads at once. */
#include "read1.h"
#include "ring.h"

#define BATCH 32

static const char *last;

static const char *read1_got(void)
{
	return last;
}

long bench_work(long n)
{
	long sum = 0, at = 0;

	if (!ring_buffer)
		ring_begin(&fd, 1, BATCH * MAX_SIZE);
	while (n > 0) {
		int k;

		for (k = 0; k < BATCH && k < n; k++) {
			if (at + size > FILE_SIZE)
				at = 0;
			ring_read(0, ring_buffer + k * size, size, at, 0);
			at += size;
		}
		sum += ring_finish(k);
		last = ring_buffer + (k - 1) * size;
		n -= k;
	}
	return sum;
}
