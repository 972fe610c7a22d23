// SPDX-License-Identifier: MIT
/* The plain loop of db.h writes the bytes that it has read, and nobody looks at them. */
#include <cosy/cosy.h>

#include "db.h"

long db_transact(int fd, long n, uint64_t seed, uint32_t records)
{
	char record[RECORD];
	long moved = 0;

	COSY_START;
	for (long i = 0; i < n; i++) {
		/* The last record has no place after it. */
		off_t at = (off_t)(db_random(&seed) % (records - 1)) * RECORD;

		if (lseek(fd, at, SEEK_SET) < 0)
			break;
		ssize_t len = read(fd, record, RECORD);
		if (len < 0)
			break;
		moved += len;
		if (i & 1) {
			ssize_t done = write(fd, record, len);
			if (done < 0)
				break;
			moved += done;
		}
	}
	COSY_END;
	return moved;
}
