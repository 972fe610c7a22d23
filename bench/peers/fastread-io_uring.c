// SPDX-License-Identifier: MIT
/* Does bonnie.h, fastread, by io_uring: 32 blocks at once. */
#include "bonnie.h"
#include "ring.h"

#define BATCH 32

long bonnie_pass(int fd, long n, unsigned long look)
{
	long sum = 0;

	ring_use(fd, BATCH * BLOCK);
	for (long i = 0; i < n;) {
		const long first = i;

		for (; i < n && i < first + BATCH; i++)
			ring_read(0, ring_buffer + (i - first) * BLOCK, BLOCK, i * BLOCK, 0);
		ring_finish(i - first);
		for (long k = first; k < i; k++)
			sum += (unsigned char)ring_buffer[(k - first) * BLOCK + (look + k) % BLOCK];
	}
	return sum;
}
