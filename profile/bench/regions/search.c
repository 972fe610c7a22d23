// SPDX-License-Identifier: MIT
/* search.c - looks keys up in a sorted index by lseek and read: search INDEX KEYS */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct entry {
	char key[8]; /* a number of 7 digits, with leading zeros */
	char value[8];
};

static unsigned long entry_key(const struct entry *entry)
{
	unsigned long key = 0;

	for (int i = 0; i < 7; i++)
		key = 10 * key + (entry->key[i] - '0');
	return key;
}

/* Returns the number of the first entry whose key is not less than `key`; -1: an error. */
static long entry_find(int fd, long entries, unsigned long key)
{
	long low = 0, high = entries;
	struct entry entry;

	while (low < high) {
		long middle = (low + high) / 2;

		if (lseek(fd, middle * sizeof(entry), SEEK_SET) < 0 ||
		    read(fd, &entry, sizeof(entry)) != sizeof(entry))
			return -1;
		if (entry_key(&entry) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int main(int argc, char **argv)
{
	int keys = argc == 3 ? atoi(argv[2]) : 0, fd = keys ? open(argv[1], O_RDONLY) : -1;
	long entries, sum = 0;

	if (fd < 0) {
		perror("search");
		return 1;
	}
	entries = lseek(fd, 0, SEEK_END) / sizeof(struct entry);
	for (int i = 0; i < keys; i++) {
		long found = entry_find(fd, entries, i * 7919UL % entries);

		if (found < 0) {
			perror(argv[1]);
			return 1;
		}
		sum += found;
	}
	printf("%ld\n", sum);
	return 0;
}
