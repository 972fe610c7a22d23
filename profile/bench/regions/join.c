// SPDX-License-Identifier: MIT
/* join.c - adds up what customers ordered, by a hash of their records: join CUSTOMERS ORDERS... */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 8192

struct record {
	char key[8]; /* a number, with zeros before it */
	char amount[8];
	char text[48];
};

struct slot {
	unsigned long key, orders, amount;
	int used;
};

static struct slot slots[SLOTS];

static unsigned long number_of(const char digits[8])
{
	unsigned long number = 0;

	for (int i = 0; i < 8; i++)
		number = 10 * number + (digits[i] - '0');
	return number;
}

/* Returns the slot of a key, or the free one where it belongs. */
static struct slot *slot_find(unsigned long key)
{
	unsigned long at = key * 2654435761UL >> 7;

	while (slots[at % SLOTS].used && slots[at % SLOTS].key != key)
		at++;
	return &slots[at % SLOTS];
}

static int customers_read(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct record record;

	if (fd < 0)
		return -1;
	while (read(fd, &record, sizeof(record)) == sizeof(record)) {
		unsigned long key = number_of(record.key);
		struct slot *slot = slot_find(key);

		slot->key = key;
		slot->used = 1;
	}
	close(fd);
	return 0;
}

static long orders_join(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct record record;
	long joined = 0;

	if (fd < 0)
		return -1;
	while (read(fd, &record, sizeof(record)) == sizeof(record)) {
		struct slot *slot = slot_find(number_of(record.key));

		if (!slot->used)
			continue;
		slot->orders++;
		slot->amount += number_of(record.amount);
		joined++;
	}
	close(fd);
	return joined;
}

int main(int argc, char **argv)
{
	unsigned long amount = 0, most = 0;
	long joined = 0;

	if (argc < 3 || customers_read(argv[1])) {
		perror("join");
		return 1;
	}
	for (int i = 2; i < argc; i++)
		joined += orders_join(argv[i]);
	for (int i = 0; i < SLOTS; i++) {
		amount += slots[i].amount;
		if (slots[i].orders > most)
			most = slots[i].orders;
	}
	printf("%ld orders, %lu, at most %lu\n", joined, amount, most);
	return 0;
}
