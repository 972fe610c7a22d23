/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * fetch.h - which loads outside the shared buffer are made together.  sandbox_fetch.c rewrites
 * programs by this rule, and cosycc estimates their cost by it.
 */
#ifndef COSY_FETCH_H
#define COSY_FETCH_H

#include "core.h"

/*
 * Instructions that a load alone takes more than in a fetch, in units of the two that a word of the
 * fetch takes.
 */
enum { COSY_WORDS_FOR_A_LOAD = 6 };

/* The bytes of the loads of a fetch, counted from the first byte of its first load. */
struct cosy_fetch_span {
	s32 low, high;
	s32 size, widest; /* of the widest load, and its first byte */
	bool frozen;	  /* a store beside it came since: it takes in no more bytes */
};

/*
 * Returns the first byte to fetch: a multiple of the widest load's size away from it.  So a load
 * that is aligned in memory is part of one word, and another thread's store is seen whole or not at
 * all, as natively.
 */
static inline s32 cosy_fetch_begin(const struct cosy_fetch_span *span)
{
	return span->low - ((span->low - span->widest) & (span->size - 1));
}

static inline u32 cosy_fetch_words(const struct cosy_fetch_span *span)
{
	return (u32)(span->high - cosy_fetch_begin(span) + 7) / 8;
}

/* Takes in a load of `size` bytes at `low`; false: there is no room for it in `room` words. */
static inline bool cosy_fetch_widen(struct cosy_fetch_span *span, s32 low, s32 size, u32 room)
{
	struct cosy_fetch_span wider = *span;

	if (low < span->low)
		wider.low = low;
	if (low + size > span->high)
		wider.high = low + size;
	if (span->frozen && (wider.low != span->low || wider.high != span->high))
		return false;
	if (size > span->size) {
		wider.size = size;
		wider.widest = low;
	}
	if (cosy_fetch_words(&wider) > room)
		return false;
	*span = wider;
	return true;
}

/* Returns whether a store of `size` bytes at `low` changes its bytes; if not, freezes it. */
static inline bool cosy_fetch_is_changed(struct cosy_fetch_span *span, s64 low, s32 size)
{
	if (low < span->high && low + size > span->low)
		return true;
	span->frozen = true;
	return false;
}

/* Returns whether one fetch for so many loads costs less than the loads one by one. */
static inline bool cosy_fetch_pays(const struct cosy_fetch_span *span, u32 loads)
{
	return cosy_fetch_words(span) <= COSY_WORDS_FOR_A_LOAD * (loads - 1);
}

#endif /* COSY_FETCH_H */
