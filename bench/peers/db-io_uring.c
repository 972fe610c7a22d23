// SPDX-License-Identifier: MIT
/*
 * Does db.h by io_uring: preads and pwrites of records, a write linked to the read whose bytes it
 * takes.  BATCH transactions go to the kernel at once; with more than one, a read may pass
 * an earlier write, which the plain loop's cannot.
 */
#include "db.h"
#include "ring.h"

#ifndef BATCH
#define BATCH 32
#endif

long db_transact(int fd, long n, uint64_t seed, uint32_t records)
{
	long result = 0;

	if (!ring_buffer)
		ring_begin(&fd, 1, BATCH * RECORD);
	for (long i = 0; i < n;) {
		int entries = 0;

		for (int k = 0; k < BATCH && i < n; k++, i++) {
			off_t at = (off_t)(db_random(&seed) % (records - 1)) * RECORD;
			char *record = ring_buffer + k * RECORD;

			ring_read(0, record, RECORD, at, i & 1 ? IOSQE_IO_LINK : 0);
			entries++;
			if (i & 1) {
				ring_write(0, record, RECORD, at + RECORD, 0);
				entries++;
			}
		}
#if defined(DB_CRC)
		ring_finish(entries);
		result = db_crc32c(result, ring_buffer, RECORD);
#elif defined(DB_SUM)
		ring_finish(entries);
		for (int word = 0; word < RECORD / 8; word++)
			result += ((uint64_t *)ring_buffer)[word];
#else
		result += ring_finish(entries);
#endif
	}
	return result;
}
