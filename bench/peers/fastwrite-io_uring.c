// SPDX-License-Identifier: MIT
/* bonnie.h, fastwrite, by io_uring: 32 blocks, each with one more word changed, are written at once. */
#include "bonnie.h"
#include "ring.h"

#define BATCH 32

long bonnie_pass(int fd, long n)
{
	long done = 0;

	ring_use(fd, BATCH * BLOCK);
	memset(ring_buffer, 'x', BATCH * BLOCK);
	for (long i = 0; i < n;) {
		const long first = i;

		for (; i < n && i < first + BATCH; i++) {
			int *block = (int *)(ring_buffer + (i - first) * BLOCK);

			block[i % (BLOCK / sizeof(int))]++;
			ring_write(0, block, BLOCK, i * BLOCK, 0);
		}
		done += ring_finish(i - first);
	}
	return done;
}
