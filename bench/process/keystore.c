// SPDX-License-Identifier: MIT
/* keystore.c - has a hash table in a file: puts COUNT keys, then looks them up. */
#include "process.h"

#define SLOTS 4096

struct slot {
	unsigned long key, value;
};

static int put(int fd, unsigned long key, unsigned long value)
{
	struct slot slot;
	int tries = 0;

	COSY_START;
	for (unsigned long at = key * 0x9e3779b97f4a7c15ul >> 52;; at = (at + 1) % SLOTS) {
		if (pread(fd, &slot, sizeof(slot), at * sizeof(slot)) != sizeof(slot))
			slot.key = 0;
		tries++;
		if (slot.key && slot.key != key)
			continue;
		slot.key = key;
		slot.value = value;
		pwrite(fd, &slot, sizeof(slot), at * sizeof(slot));
		break;
	}
	COSY_END;
	return tries;
}

static unsigned long get(int fd, unsigned long key)
{
	struct slot slot;

	COSY_START;
	for (unsigned long at = key * 0x9e3779b97f4a7c15ul >> 52;; at = (at + 1) % SLOTS) {
		if (pread(fd, &slot, sizeof(slot), at * sizeof(slot)) != sizeof(slot) || !slot.key)
			return 0;
		if (slot.key == key)
			return slot.value;
	}
	COSY_END;
}

int main(int argc, char **argv)
{
	int fd = process_open(argv[1], "keys", O_RDWR | O_CREAT | O_TRUNC);
	long count = argc > 2 ? atol(argv[2]) : 0, tries = 0;
	unsigned long sum = 0;

	for (long i = 1; i <= count; i++)
		tries += put(fd, i % 2000 + 1, i);
	for (long i = 1; i <= count; i++)
		sum = sum * 31 + get(fd, i * 7 % 3000 + 1);
	printf("%ld tries, %lx\n", tries, sum);
	return 0;
}
