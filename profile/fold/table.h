/* SPDX-License-Identifier: MIT */
/* table.h - hashes to small numbers, from 1 up, and no more of them than was said. */
#ifndef COSY_PROFILE_TABLE_H
#define COSY_PROFILE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct table {
	struct table_slot {
		uint64_t hash;
		uint32_t number;
	} *slots;
	uint32_t n_slots, n, max;
};

bool table_create(struct table *table, uint32_t max);
void table_destroy(struct table *table);

/* Returns the number of `hash`, or 0 where it has none. */
uint32_t table_find(const struct table *table, uint64_t hash);

/*
 * Does the same; a hash without a number gets the next one and sets *new.  0: the table is full.
 */
uint32_t table_add(struct table *table, uint64_t hash, bool *new);

static inline uint64_t table_mix(uint64_t hash, uint64_t value)
{
	hash = (hash * 0xd6e8feb86659fd93ULL ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

#endif /* COSY_PROFILE_TABLE_H */
