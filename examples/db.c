/* SPDX-License-Identifier: MIT */
/*
 * db FILE [TRANSACTIONS]: random seek, read, and on every other record a write.
 *
 * The database simulation of FSL-02-01 section 4.3, reads to writes 2:1.  The
 * random number generator is a user function that runs inside the compound.
 */
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RECORDS 1024

struct record {
	uint32_t key;
	uint32_t count;
	char payload[56];
};

static uint64_t seed = 1;

static uint32_t random_key(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % RECORDS;
}

/* Returns the sum of all counts read, or -1 with errno set. */
static long transact(int fd, long transactions)
{
	struct record r;
	long sum = 0;

	COSY_START;
	for (long i = 0; i < transactions; i++) {
		off_t at = (off_t)random_key() * sizeof(r);

		if (lseek(fd, at, SEEK_SET) < 0)
			return -1;
		if (read(fd, &r, sizeof(r)) != sizeof(r))
			return -1;
		sum += r.count;
		if (i & 1) {
			r.count++;
			if (lseek(fd, at, SEEK_SET) < 0)
				return -1;
			if (write(fd, &r, sizeof(r)) != sizeof(r))
				return -1;
		}
	}
	COSY_END;
	return sum;
}

int main(int argc, char **argv)
{
	long transactions = argc > 2 ? atol(argv[2]) : 20000;
	struct record r = {0};
	struct timespec start, end;

	if (argc < 2) {
		fprintf(stderr, "usage: db FILE [TRANSACTIONS]\n");
		return 2;
	}
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		goto fail;
	for (r.key = 0; r.key < RECORDS; r.key++)
		if (write(fd, &r, sizeof(r)) != sizeof(r))
			goto fail;
	clock_gettime(CLOCK_MONOTONIC, &start);
	long sum = transact(fd, transactions);
	if (sum < 0)
		goto fail;
	clock_gettime(CLOCK_MONOTONIC, &end);
	long written = 0;
	lseek(fd, 0, SEEK_SET);
	while (read(fd, &r, sizeof(r)) == sizeof(r))
		written += r.count;
	printf("transactions %ld sum %ld written %ld ns %lld\n", transactions, sum, written,
	       (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec);
	return 0;
fail:
	fprintf(stderr, "db: %s: %s\n", argv[1], strerror(errno));
	return 1;
}
