// SPDX-License-Identifier: MIT
/*
 * table.c - copies a program's constant tables into the shared buffer once, so that compounds read
 * them without a check of each address.
 */
#include <errno.h>
#include <string.h>

#include "process/context.h"
#include "memory/heap.h"
#include "region/region.h"

const void *__cosy_table(const void **slot, const void *table, size_t size)
{
	const void *place = __atomic_load_n(slot, __ATOMIC_ACQUIRE), *other = NULL;
	int saved = errno;
	void *copy;

	if (place)
		return place;
	copy = libcosy_shared_alloc(size);
	errno = saved;
	place = copy ? memcpy(copy, table, size) : table;
	if (__atomic_compare_exchange_n(slot, &other, place, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return place;
	libcosy_heap_free(copy);
	return other;
}
