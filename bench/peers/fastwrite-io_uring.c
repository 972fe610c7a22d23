// SPDX-License-Identifier: MIT
/*
 * Does bonnie.h, fastwrite, by io_uring: writes 32 blocks at once, each with one more word changed
 * than the one before it.
 */
#include "bonnie.h"
#include "ring.h"

#define BATCH 32

long bonnie_pass(int fd, long n, unsigned long look)
{
	long done = 0;

	(void)look;
	ring_use(fd, BATCH * BLOCK);
	memset(ring_buffer, 'x', BATCH * BLOCK);
	for (long i = 0; i < n;) {
		const long first = i;

		for (; i < n && i < first + BATCH; i++) {
			int *block = (int *)(ring_buffer + (i - first) * BLOCK);

			/* Change also the words that changed since this block's last turn. */
			for (long word = i < BATCH ? 0 : i - BATCH + 1; word <= i; word++)
				block[word % WORDS]++;
			ring_write(0, block, BLOCK, i * BLOCK, 0);
		}
		done += ring_finish(i - first);
	}
	return done;
}
