// SPDX-License-Identifier: MIT
// Packed structures, unaligned pointers, flexible array members.
// expect: compiled
#include <cosy/cosy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct __attribute__((packed)) header {
	uint8_t tag;
	uint32_t len;
	uint16_t crc;
	uint64_t id;
};
struct list {
	int count;
	short items[];
};

static uint32_t load32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

int main(void)
{
	unsigned char bytes[64];
	struct list *l = malloc(sizeof(*l) + 10 * sizeof(short));
	unsigned long hash = 5;

	for (int i = 0; i < 64; i++)
		bytes[i] = i * 41;
	l->count = 10;
	COSY_START;
	for (int i = 0; i < 40; i++) {
		struct header *h = (struct header *)(bytes + i);

		h->len += h->tag;
		h->crc ^= h->len;
		h->id = h->id * 3 + h->crc + (getpid() > 0);
		hash = hash * 31 + load32(bytes + i + 3) + *(uint16_t *)(bytes + i + 1);
	}
	for (int i = 0; i < l->count; i++)
		l->items[i] = hash >> i;
	COSY_END;
	printf("%lx %d %d %d\n", hash, l->items[0], l->items[9], bytes[20]);
	return 0;
}
