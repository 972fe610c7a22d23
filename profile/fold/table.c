// SPDX-License-Identifier: MIT
/* table.c - see table.h. */
#include <stdlib.h>

#include "fold/table.h"

bool table_create(struct table *table, uint32_t max)
{
	table->n = 0;
	table->max = max;
	table->n_slots = 64;
	table->slots = calloc(table->n_slots, sizeof(*table->slots));
	return table->slots;
}

void table_destroy(struct table *table)
{
	free(table->slots);
	table->slots = NULL;
}

static struct table_slot *table_slot(const struct table *table, uint64_t hash)
{
	uint32_t at = hash & (table->n_slots - 1);

	while (table->slots[at].number && table->slots[at].hash != hash)
		at = (at + 1) & (table->n_slots - 1);
	return &table->slots[at];
}

static bool table_grow(struct table *table)
{
	struct table bigger = *table;

	bigger.n_slots *= 2;
	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (uint32_t i = 0; i < table->n_slots; i++)
		if (table->slots[i].number)
			*table_slot(&bigger, table->slots[i].hash) = table->slots[i];
	free(table->slots);
	*table = bigger;
	return true;
}

uint32_t table_find(const struct table *table, uint64_t hash)
{
	return table_slot(table, hash)->number;
}

uint32_t table_add(struct table *table, uint64_t hash, bool *new)
{
	struct table_slot *slot = table_slot(table, hash);

	*new = false;
	if (slot->number)
		return slot->number;
	if (table->n >= table->max)
		return 0;
	if (2 * (table->n + 1) > table->n_slots) {
		if (!table_grow(table))
			return 0;
		slot = table_slot(table, hash);
	}
	*new = true;
	slot->hash = hash;
	slot->number = ++table->n;
	return slot->number;
}
