// SPDX-License-Identifier: MIT
/* Does bonnie.h, rewrite, by io_uring: 32 blocks are read at once, changed, and written at once. */
#include "bonnie.h"
#include "ring.h"

#define BATCH 32

long bonnie_pass(int fd, long n, unsigned long look)
{
	long done = 0;

	(void)look;
	ring_use(fd, BATCH * BLOCK);
	for (long i = 0; i < n;) {
		const long first = i;

		for (; i < n && i < first + BATCH; i++)
			ring_read(0, ring_buffer + (i - first) * BLOCK, BLOCK, i * BLOCK, 0);
		ring_finish(i - first);
		for (long k = first; k < i; k++) {
			int *block = (int *)(ring_buffer + (k - first) * BLOCK);

			block[k % (BLOCK / sizeof(int))]++;
			ring_write(0, block, BLOCK, k * BLOCK, 0);
		}
		done += ring_finish(i - first);
	}
	return done;
}
