// SPDX-License-Identifier: MIT
/* lookup.c - finds COUNT keys in a sorted file by halves, each step a seek and a read. */
#include "process.h"

struct record {
	unsigned int key, value;
	char name[24];
};

#define RECORDS 4096

static int lookup(int fd, unsigned int key, struct record *found)
{
	long low = 0, high = RECORDS;

	COSY_START;
	while (low < high) {
		long middle = (low + high) / 2;

		if (lseek(fd, middle * sizeof(*found), SEEK_SET) < 0 ||
		    read(fd, found, sizeof(*found)) != sizeof(*found))
			return -1;
		if (found->key == key)
			return 1;
		if (found->key < key)
			low = middle + 1;
		else
			high = middle;
	}
	COSY_END;
	return 0;
}

int main(int argc, char **argv)
{
	int fd = process_open(argv[1], "records", O_RDWR | O_CREAT | O_TRUNC);
	long count = argc > 2 ? atol(argv[2]) : 0, hits = 0;
	static struct record all[RECORDS];
	struct record found;
	unsigned int sum = 0;

	for (int i = 0; i < RECORDS; i++)
		all[i] = (struct record){.key = 3 * i, .value = i * 2654435761u};
	if (write(fd, all, sizeof(all)) != sizeof(all))
		return 1;
	for (long i = 0; i < count; i++) {
		if (lookup(fd, i * 7919 % (3 * RECORDS), &found) != 1)
			continue;
		hits++;
		sum = sum * 31 + found.value;
	}
	printf("%ld %x\n", hits, sum);
	return 0;
}
