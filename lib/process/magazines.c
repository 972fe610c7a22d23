// SPDX-License-Identifier: MIT
/* magazines.c - see magazines.h. */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "process/magazines.h"
#include "process/thread.h"
#include "region/region.h"

#define FEWEST 4

struct libcosy_magazines *__cosy_magazines(void)
{
	return &libcosy_thread_self->magazines;
}

/* Takes a block out of its place, which a handler's region may do meanwhile. */
static void *block_take(void **place)
{
	return __atomic_exchange_n(place, NULL, __ATOMIC_SEQ_CST);
}

/* Puts a block where none is.  False: there is one. */
static bool block_put(void **place, void *block)
{
	void *none = NULL;

	return __atomic_compare_exchange_n(place, &none, block, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Each filling makes twice as many, so that sizes that are used little cost little. */
void *__cosy_magazine_fill(struct libcosy_magazines *magazines, uint64_t class)
{
	struct libcosy_magazine *magazine = &magazines->of[class % LIBCOSY_CLASSES];
	size_t size = LIBCOSY_SMALLEST + 16 * (class % LIBCOSY_CLASSES);
	uint32_t wanted = magazine->wanted ? magazine->wanted : FEWEST, i;
	void *block, *first = malloc(size);
	int error;

	if (!first)
		return NULL;
	error = errno;
	for (i = 0; i < wanted; i++) {
		if (magazine->block[i])
			continue;
		block = malloc(size);
		if (!block)
			break;
		if (!block_put(&magazine->block[i], block))
			free(block);
	}
	magazine->count = i;
	magazine->wanted = wanted < LIBCOSY_BLOCKS ? 2 * wanted : LIBCOSY_BLOCKS;
	errno = error;
	return first;
}

void __cosy_magazines_free(struct libcosy_magazines *magazines, void *block)
{
	magazines->freed_count = 0;
	for (size_t i = 0; i < LIBCOSY_FREED; i++)
		free(block_take(&magazines->freed[i]));
	free(block);
}

void libcosy_magazines_empty(struct libcosy_magazines *magazines)
{
	for (size_t class = 0; class < LIBCOSY_CLASSES; class ++)
		for (size_t i = 0; i < LIBCOSY_BLOCKS; i++)
			free(block_take(&magazines->of[class].block[i]));
	__cosy_magazines_free(magazines, NULL);
	memset(magazines, 0, sizeof(*magazines));
}

/* Returns where a block's header is, unknown to the compiler. */
static const void *header_of(const void *block)
{
	__asm__("" : "+r"(block));
	return (const uint8_t *)block - sizeof(size_t);
}

bool libcosy_blocks_are_known(void)
{
	static int known; /* 1: yes; -1: no */
	int verdict = __atomic_load_n(&known, __ATOMIC_RELAXED);

	for (size_t size = 1; !verdict && size < 8192; size = 3 * size + 5) {
		void *block = malloc(size);
		size_t header;

		if (!block)
			return false;
		/* Without the flags: the arena is not the first one, the block before is in use. */
		memcpy(&header, header_of(block), sizeof(header));
		header &= ~(size_t)5;
		if (header != malloc_usable_size(block) + sizeof(size_t) || header % 16 ||
		    header < 32)
			verdict = -1;
		free(block);
	}
	verdict = verdict ? verdict : 1;
	__atomic_store_n(&known, verdict, __ATOMIC_RELAXED);
	return verdict > 0;
}

bool libcosy_is_of_heap(const char *name)
{
	static const char names[][16] = {"malloc",  "free",	    "calloc",
					 "realloc", "reallocarray", "strdup",
					 "strndup", "__strdup",	    "__strndup"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
