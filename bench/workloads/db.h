/* SPDX-License-Identifier: MIT */
/*
 * db.h - simulates a database as FSL-02-01 section 4.3 does: a file of `megabytes`, read in
 * records of 4 KB at random places; after every second read the record is written, where
 * the read ended, as there.  Done by `processes` at once, each with a descriptor of its own,
 * the work divided among them.  An operation is one read with its seek and half a write.
 */
#ifndef DB_H
#define DB_H

#include <nmmintrin.h>

#include "bench.h"

#define RECORD 4096

/* Does a process's part.  Returns the number of bytes moved. */
long db_transact(int fd, long n, uint64_t seed, uint32_t records);

/* Returns the next place, and steps the generator's state. */
static inline uint32_t db_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/*
 * Returns the CRC-32C of what `crc` is the CRC of and len bytes more, as fast as a simple loop is.
 */
__attribute__((target("sse4.2"))) static inline uint32_t db_crc32c(uint32_t crc, const char *data,
								   size_t len)
{
	uint64_t state = (uint32_t)~crc, word;

	for (size_t at = 0; at < len; at += sizeof(word)) {
		memcpy(&word, data + at, sizeof(word));
		state = _mm_crc32_u64(state, word);
	}
	return ~(uint32_t)state;
}

#endif /* DB_H */
