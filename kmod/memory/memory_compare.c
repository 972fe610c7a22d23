// SPDX-License-Identifier: GPL-2.0
/* memory_compare.c - compares ranges and strings, and finds one within another. */
#include <linux/nospec.h>
#include "memory/memory.h"
#include "memory/operations.h"

enum { SAME, DIFFERENT, ENDED, UNREADABLE };

/*
 * Compares as memcmp does, or as strncmp with `zero`.  ENDED: they are the same up to a 0.  `room`
 * bytes can be read of both, of which `length` count.
 */
static __always_inline int memory_differ(const u8 *a, const u8 *b, u64 length, u64 room, bool zero,
					 s64 *difference)
{
	u64 va, vb, bits, ends, i = 0;
	int fault = 0;
	u32 shift;

	cosy_access_begin();
	while (!zero && i + COSY_BLOCK <= length) {
		if (cosy_peek_difference(a + i, b + i, &fault) || fault)
			break;
		i += COSY_BLOCK;
	}
	for (; i < length && i + COSY_WORD <= room && !fault; i += COSY_WORD) {
		va = cosy_peek_word(a + i, &fault);
		vb = cosy_peek_word(b + i, &fault);
		bits = va ^ vb;
		ends = zero ? cosy_zeroes(va) : 0;
		if (!(bits | ends) || fault)
			continue;
		/* The lowest byte that differs, or is the end. */
		shift = __ffs(bits | ends) & ~7u;
		if (i + shift / 8 >= length)
			break;
		cosy_access_end();
		*difference = (s64)(u8)(va >> shift) - (u8)(vb >> shift);
		return *difference ? DIFFERENT : ENDED;
	}
	for (; i < length && !fault; i++) {
		u8 ba = cosy_peek_byte(a + i, &fault), bb = cosy_peek_byte(b + i, &fault);

		if ((ba == bb && !(zero && !ba)) || fault)
			continue;
		cosy_access_end();
		*difference = (s64)ba - bb;
		return *difference ? DIFFERENT : ENDED;
	}
	cosy_access_end();
	return fault ? UNREADABLE : SAME;
}

static __always_inline s64 memory_compare(struct cosy_activation *run, u64 a, u64 b, u64 length,
					  bool zero)
{
	struct cosy_place place_a __cosy_uninitialized, place_b __cosy_uninitialized;
	u64 now, room;
	s64 difference;

	while (length) {
		if (!cosy_resolve(run, a, &place_a) || !cosy_resolve(run, b, &place_b))
			return 0;
		room = min(cosy_readable(&place_a), cosy_readable(&place_b));
		now = min3(room, length, (u64)COSY_SLICE);
		switch (memory_differ(place_a.at, place_b.at, now, room, zero, &difference)) {
		case DIFFERENT:
			return difference;
		case ENDED:
			return 0;
		case UNREADABLE:
			cosy_leave_fault_of(run, &place_a, a, &place_b, b);
			return 0;
		}
		a += now;
		b += now;
		length -= now;
		if (!cosy_spend(run, now))
			return 0;
	}
	return 0;
}

u64 cosy_op_memcmp(struct cosy_activation *run, u64 *r)
{
	return memory_compare(run, r[1], r[2], r[3], false);
}

static noinline s64 strings_compare(struct cosy_activation *run, u64 a, u64 b, u64 length)
{
	return memory_compare(run, a, b, length, true);
}

u64 cosy_op_strcmp(struct cosy_activation *run, u64 *r)
{
	return strings_compare(run, r[1], r[2], ~0ull);
}

u64 cosy_op_strncmp(struct cosy_activation *run, u64 *r)
{
	return strings_compare(run, r[1], r[2], r[3]);
}

/*
 * Returns whether files are full of this byte, so that a search for it would stop in every stride.
 */
static __always_inline bool byte_is_common(u8 byte)
{
	return !byte || byte == ' ' || byte == '\n' || (byte >= 'a' && byte <= 'z');
}

/* Returns a word with 0 in each byte where `first` is, and `last` `span` bytes above it. */
static __always_inline u64 ends_differing(const u8 *at, u64 span, u64 first, u64 last)
{
	return (READ_ONCE(*(const u64 *)at) ^ first) |
	       (READ_ONCE(*(const u64 *)(at + span)) ^ last);
}

/* Returns the index of the first such byte in the words of `length` bytes, or COSY_NOT_FOUND. */
static __always_inline u64 ends_in_words(const u8 *at, u64 span, u64 length, u64 first, u64 last)
{
	u64 hits, i;

	for (i = 0; i + COSY_WORD <= length; i += COSY_WORD) {
		hits = cosy_zeroes(ends_differing(at + i, span, first, last));
		if (hits)
			return i + cosy_first_byte(hits);
	}
	return COSY_NOT_FOUND;
}

/* Does the same for a stride, which mostly has none. */
static __always_inline u64 ends_in_stride(const u8 *at, u64 span, u64 first, u64 last)
{
	u64 hits = 0;
	u32 i;

	/* This finds every zero byte, and bytes above 0x80 besides. */
#pragma GCC unroll 8
	for (i = 0; i < COSY_STRIDE; i += COSY_WORD)
		hits |= ends_differing(at + i, span, first, last) - COSY_ONES;
	if (likely(!(hits & COSY_HIGHS)))
		return COSY_NOT_FOUND;
	return ends_in_words(at, span, COSY_STRIDE, first, last);
}

/*
 * Returns the index of the first of `length` places in the buffer where `first` is, and `last`
 * `span` bytes above it; both have the byte in all places.  Only strides that have the rarer of
 * the two are looked at more closely.  The bytes may change meanwhile: the answer is a candidate,
 * to be compared.
 */
static __always_inline u64 ends_scan(const u8 *at, u64 span, u64 length, u64 first, u64 last)
{
	bool by_last = byte_is_common(first) && !byte_is_common(last);
	const u8 *rarer_at = by_last ? at + span : at;
	u64 i, index, rarer = by_last ? last : first;
	int never = 0;

	for (i = 0; i + COSY_STRIDE <= length; i += COSY_STRIDE) {
		i += COSY_STRIDE *
		     cosy_skip_strides(rarer_at + i, (length - i) / COSY_STRIDE, rarer, &never);
		if (i + COSY_STRIDE > length)
			break;
		index = ends_in_stride(at + i, span, first, last);
		if (index != COSY_NOT_FOUND)
			return i + index;
	}
	index = ends_in_words(at + i, span, length - i, first, last);
	if (index != COSY_NOT_FOUND)
		return i + index;
	for (i = round_down(length, COSY_WORD); i < length; i++) {
		if (READ_ONCE(at[i]) == (u8)first && READ_ONCE(at[i + span]) == (u8)last)
			return i;
	}
	return COSY_NOT_FOUND;
}

/* Returns a word with 0 in each byte where both ends are, in memory where reading may fault. */
static __always_inline u64 peek_ends(const u8 *at, u64 span, u64 first, u64 last, int *fault)
{
	return (cosy_peek_word(at, fault) ^ first) | (cosy_peek_word(at + span, fault) ^ last);
}

/*
 * Does the work of ends_scan in user memory.  Whole words can be read at all of these places, up to
 * `span` bytes above them.  May return COSY_FAULTED.
 */
static u64 ends_scan_user(const u8 *at, u64 span, u64 length, u64 first, u64 last)
{
	u64 hits = 0, i = 0, block, j;
	int fault = 0;

	cosy_access_begin();
	for (; i + COSY_BLOCK <= length; i += COSY_BLOCK) {
		block = 0;
		/* This finds every zero byte, and bytes above 0x80 besides. */
#pragma GCC unroll 4
		for (j = 0; j < COSY_BLOCK; j += COSY_WORD)
			block |= peek_ends(at + i + j, span, first, last, &fault) - COSY_ONES;
		if (!(block & COSY_HIGHS) && !fault)
			continue;
		for (j = 0; j < COSY_BLOCK && !hits && !fault; j += COSY_WORD)
			hits = cosy_zeroes(peek_ends(at + i + j, span, first, last, &fault));
		if (hits || fault) {
			i += j - COSY_WORD;
			goto out;
		}
	}
	for (; i < length && !fault; i += COSY_WORD) {
		hits = cosy_zeroes(peek_ends(at + i, span, first, last, &fault));
		if (hits)
			break;
	}
out:
	cosy_access_end();
	if (unlikely(fault))
		return COSY_FAULTED;
	if (!hits)
		return COSY_NOT_FOUND;
	i += cosy_first_byte(hits);
	return i < length ? i : COSY_NOT_FOUND;
}

struct needle {
	u64 at, length; /* length is not 0 */
	u8 first, last; /* its ends */
};

/*
 * Returns the first of `length` places where the needle may be: both its ends are there, or, at
 * the end of a page of user memory, its first byte.  0: none, or it has left.
 */
static noinline u64 needle_find(struct cosy_activation *run, u64 from, u64 length,
				const struct needle *needle)
{
	u64 span = needle->length - 1, index, now, room;
	struct cosy_place place __cosy_uninitialized;

	while (length) {
		if (!cosy_resolve(run, from, &place))
			return 0;
		now = min(length, (u64)COSY_SLICE);
		if (!place.user && place.above > span) {
			now = min(now, place.above - span);
			/* If the test is mispredicted, `span` is any number. */
			index = ends_scan(place.at,
					  span & array_index_mask_nospec(span, place.above), now,
					  needle->first * COSY_ONES, needle->last * COSY_ONES);
		} else if (place.user && cosy_readable(&place) > COSY_WORD &&
			   span < (room = cosy_readable(&place) - COSY_WORD)) {
			now = min(now, room - span);
			index = ends_scan_user(place.at, span & array_index_mask_nospec(span, room),
					       now, needle->first * COSY_ONES,
					       needle->last * COSY_ONES);
		} else {
			now = min(now, cosy_readable(&place));
			index = cosy_scan(place.at, now, needle->first * COSY_ONES, false,
					  NULL);
		}
		if (likely(index < now))
			return from + index;
		if (!cosy_search_goes_on(run, &from, &length, now, index))
			return 0;
	}
	return 0;
}

/* Reads the needle's ends; false: it has left. */
static __always_inline bool needle_read_ends(struct cosy_activation *run, struct needle *needle)
{
	u64 last = needle->at + needle->length - 1;
	struct cosy_place place __cosy_uninitialized;
	int fault = 0;

	if (!cosy_resolve(run, needle->at, &place))
		return false;
	cosy_access_begin();
	needle->first = cosy_peek_byte(place.at, &fault);
	cosy_access_end();
	if (unlikely(needle->length > cosy_readable(&place))) {
		if (!cosy_resolve(run, last, &place))
			return false;
	} else {
		place.at += (needle->length - 1) &
			    array_index_mask_nospec(needle->length - 1, cosy_readable(&place));
	}
	cosy_access_begin();
	needle->last = cosy_peek_byte(place.at, &fault);
	cosy_access_end();
	if (unlikely(fault))
		cosy_leave_fault(run, needle->at);
	return !fault;
}

u64 cosy_op_memmem(struct cosy_activation *run, u64 *r)
{
	u64 hay = r[1], hay_length = r[2], needle_length = r[4];
	struct needle needle __cosy_uninitialized;
	u64 places, at;
	s64 difference;

	if (!needle_length)
		return hay;
	needle.at = r[3];
	needle.length = needle_length;
	if (hay_length < needle_length || !needle_read_ends(run, &needle))
		return 0;
	/* This is not 0, since the needle is not empty. */
	places = hay_length - needle_length + 1;
	for (;;) {
		at = needle_find(run, hay, places, &needle);
		if (!at)
			return 0;
		difference = memory_compare(run, at, needle.at, needle.length, false);
		if (run->status != COSY_DONE)
			return 0;
		if (!difference)
			return at;
		places -= at + 1 - hay;
		hay = at + 1;
		if (!places || !cosy_spend(run, 0))
			return 0;
	}
}
