// SPDX-License-Identifier: MIT
/*
 * The loop of db.h in which every record that was read is also checksummed: by the
 * processor's own instruction in plain code, in a region by the operation.  A copy of db.c's
 * loop on purpose, since a row compares whole sources.
 */
#include <cosy/cosy.h>
#include <cosy/fast.h>

#include "db.h"

#ifdef COSY_OFF
#define checksum db_crc32c
#else
#define checksum cosy_crc32c
#endif

long db_transact(int fd, long n, uint64_t seed, uint32_t records)
{
	char record[RECORD] __attribute__((aligned(16)));
	uint32_t sum = 0;

	COSY_START;
	for (long i = 0; i < n; i++) {
		off_t at = (off_t)(db_random(&seed) % (records - 1)) * RECORD;

		if (lseek(fd, at, SEEK_SET) < 0)
			break;
		ssize_t len = read(fd, record, RECORD);
		if (len < RECORD)
			break;
		sum = checksum(sum, record, RECORD);
		if ((i & 1) && write(fd, record, len) < 0)
			break;
	}
	COSY_END;
	return sum;
}
