// SPDX-License-Identifier: MIT
/*
 * The loop of db.h in which a user function adds up every record that was read.  A copy of
 * db.c's loop on purpose, since a row compares whole sources.
 */
#include <cosy/cosy.h>

#include "db.h"

static uint64_t checksum(const uint64_t *words)
{
	uint64_t sum = 0;

	for (int i = 0; i < RECORD / 8; i++)
		sum += words[i];
	return sum;
}

long db_transact(int fd, long n, uint64_t seed, uint32_t records)
{
	uint64_t record[RECORD / 8], sum = 0;

	COSY_START;
	for (long i = 0; i < n; i++) {
		off_t at = (off_t)(db_random(&seed) % (records - 1)) * RECORD;

		if (lseek(fd, at, SEEK_SET) < 0)
			break;
		ssize_t len = read(fd, record, RECORD);
		if (len < RECORD)
			break;
		sum += checksum(record);
		if ((i & 1) && write(fd, record, len) < 0)
			break;
	}
	COSY_END;
	return sum;
}
