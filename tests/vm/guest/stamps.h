/* SPDX-License-Identifier: MIT */
/*
 * stamps.h - random numbers, and memory in which every later change can be seen.
 *
 * A stamp is 8 bytes at each multiple of a distance, different from all stamps before.  So any
 * later write, and any page in another's place, shows by looking at the stamps; the bytes between
 * them are zeros.
 */
#ifndef STAMPS_H
#define STAMPS_H

#include "move.h"

extern uint64_t state, stamps; /* the last number, and the last stamp */

HELPER uint64_t any(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

HELPER uint64_t *stamp_at(char *memory, size_t i, size_t distance)
{
	return (uint64_t *)(memory + i * distance);
}

/* Returns the first of `count` stamps that is not what it should be, or -1. */
HELPER long stamps_differ(char *memory, const uint64_t *want, size_t count, size_t distance)
{
	for (size_t i = 0; i < count; i++)
		if (*stamp_at(memory, i, distance) != want[i])
			return (long)i;
	return -1;
}

/* Returns the first byte of a page that is no stamp's and not 0, or -1. */
HELPER long page_dirt(const char *page, size_t distance)
{
	for (size_t i = 0; i < PAGE / 8; i++)
		if (i * 8 % distance && ((const uint64_t *)page)[i])
			return (long)i * 8;
	return -1;
}

#endif /* STAMPS_H */
