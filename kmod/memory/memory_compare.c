// SPDX-License-Identifier: GPL-2.0
/* memory_compare.c - compares ranges and strings, and finds one within another. */
#include <linux/nospec.h>
#include "memory/memory.h"
#include "memory/operations.h"

enum { SAME, DIFFERENT, ENDED, UNREADABLE };

/*
 * What is compared: ranges; strings; a string with the beginning of another; and both again without
 * regard to case.
 */
enum comparison { RANGES, STRINGS, BEGINNING, FOLDED, FOLDED_BEGINNING };

/*
 * Compares as memcmp does, or, unless `how` is RANGES, as strncmp.  ENDED: they are the same up to a
 * 0, or `b` begins with the string `a`.  `room` bytes can be read of both, of which `length` count.
 */
static __always_inline int memory_differ(const u8 *a, const u8 *b, u64 length, u64 room,
					 enum comparison how, s64 *difference)
{
	u64 va, vb, bits, ends, i = 0;
	bool zero = how != RANGES;
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
		if (how == BEGINNING && !(u8)(va >> shift))
			return ENDED;
		*difference = (s64)(u8)(va >> shift) - (u8)(vb >> shift);
		return *difference ? DIFFERENT : ENDED;
	}
	for (; i < length && !fault; i++) {
		u8 ba = cosy_peek_byte(a + i, &fault), bb = cosy_peek_byte(b + i, &fault);

		if ((ba == bb && !(zero && !ba)) || fault)
			continue;
		cosy_access_end();
		if (how == BEGINNING && !ba)
			return ENDED;
		*difference = (s64)ba - bb;
		return *difference ? DIFFERENT : ENDED;
	}
	cosy_access_end();
	return fault ? UNREADABLE : SAME;
}

/* What the C library's tables for the case of characters have in them, from 0 on. */
#define FOLDED_BYTES 256

/* Returns a byte as it is compared without regard to case. */
static __always_inline s32 byte_fold(const u8 *table, u8 byte, int *fault)
{
	return cosy_peek_int(table + byte * sizeof(s32), fault);
}

/*
 * Decides about one byte of each string, as memory_differ does.  SAME: the next ones decide.  With
 * *fault, the answer means nothing.  Between begin and end.
 */
static __always_inline int folded_differ_byte(u8 a, u8 b, const u8 *table, enum comparison how,
					      s64 *difference, int *fault)
{
	if (how == FOLDED_BEGINNING && !a)
		return ENDED;
	*difference = 0;
	if (a != b)
		*difference = (s64)byte_fold(table, a, fault) - byte_fold(table, b, fault);
	if (*difference)
		return DIFFERENT;
	return a ? SAME : ENDED;
}

/* Compares as memory_differ does, by a table of the C library's. */
static __always_inline int folded_differ(const u8 *a, const u8 *b, u64 length, u64 room,
					 const u8 *table, enum comparison how, s64 *difference)
{
	int fault = 0, ret = SAME;
	u64 va, vb, marks, i = 0;
	u32 shift;

	cosy_access_begin();
	for (; i < length && i + COSY_WORD <= room; i += COSY_WORD) {
		va = cosy_peek_word(a + i, &fault);
		vb = cosy_peek_word(b + i, &fault);
		if (unlikely(fault))
			goto out;
		/* Look at bytes that differ, and at the end. */
		for (marks = (va ^ vb) | cosy_zeroes(va); marks; marks &= ~(0xffull << shift)) {
			shift = __ffs(marks) & ~7u;
			if (i + shift / 8 >= length)
				goto out;
			ret = folded_differ_byte(va >> shift, vb >> shift, table, how, difference,
						 &fault);
			if (ret != SAME || fault)
				goto out;
		}
	}
	for (; i < length && ret == SAME && !fault; i++) {
		u8 ba = cosy_peek_byte(a + i, &fault), bb = cosy_peek_byte(b + i, &fault);

		if (likely(!fault))
			ret = folded_differ_byte(ba, bb, table, how, difference, &fault);
	}
out:
	cosy_access_end();
	return fault ? UNREADABLE : ret;
}

/* The table is used by FOLDED and FOLDED_BEGINNING. */
static __always_inline s64 memory_compare(struct cosy_activation *run, u64 a, u64 b, u64 length,
					  enum comparison how, const u8 *table)
{
	struct cosy_place place_a __cosy_uninitialized, place_b __cosy_uninitialized;
	u64 now, room;
	s64 difference;
	int differ;

	while (length) {
		if (!cosy_resolve(run, a, &place_a) || !cosy_resolve(run, b, &place_b))
			return 0;
		room = min(cosy_readable(&place_a), cosy_readable(&place_b));
		now = min3(room, length, (u64)COSY_SLICE);
		if (how >= FOLDED)
			differ = folded_differ(place_a.at, place_b.at, now, room, table, how,
					       &difference);
		else
			differ = memory_differ(place_a.at, place_b.at, now, room, how, &difference);
		switch (differ) {
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
	return memory_compare(run, r[1], r[2], r[3], RANGES, NULL);
}

static noinline s64 strings_compare(struct cosy_activation *run, u64 a, u64 b, u64 length)
{
	return memory_compare(run, a, b, length, STRINGS, NULL);
}

u64 cosy_op_strcmp(struct cosy_activation *run, u64 *r)
{
	return strings_compare(run, r[1], r[2], ~0ull);
}

u64 cosy_op_strncmp(struct cosy_activation *run, u64 *r)
{
	return strings_compare(run, r[1], r[2], r[3]);
}

/* Returns where a table of the C library's can be read; NULL: it has left. */
static const u8 *table_reach(struct cosy_activation *run, u64 address)
{
	const u8 *table = cosy_reach(run, address, FOLDED_BYTES * sizeof(s32));

	if (unlikely(!table))
		cosy_leave_fault(run, address);
	return table;
}

/* Compares r3 bytes at most, by the table at r4. */
u64 cosy_op_strncasecmp(struct cosy_activation *run, u64 *r)
{
	const u8 *table = table_reach(run, r[4]);

	return table ? memory_compare(run, r[1], r[2], r[3], FOLDED, table) : 0;
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
			index = cosy_scan(place.at, now, needle->first * COSY_ONES, false, NULL);
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

/* Returns the first of `places` places, 1 up, where the needle is.  0: none, or it has left. */
static u64 needle_search(struct cosy_activation *run, u64 hay, u64 places,
			 const struct needle *needle)
{
	s64 difference;
	u64 at;

	for (;;) {
		at = needle_find(run, hay, places, needle);
		if (!at)
			return 0;
		difference = memory_compare(run, at, needle->at, needle->length, RANGES, NULL);
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

u64 cosy_op_memmem(struct cosy_activation *run, u64 *r)
{
	struct needle needle = { .at = r[3], .length = r[4] };
	u64 hay = r[1], hay_length = r[2];

	if (!needle.length)
		return hay;
	if (hay_length < needle.length || !needle_read_ends(run, &needle))
		return 0;
	/* This is not 0, since the needle is not empty. */
	return needle_search(run, hay, hay_length - needle.length + 1, &needle);
}

/* --- Strings in strings ------------------------------------------------------------------ */

/* Reads the first byte of a string.  False: it has left. */
static bool string_read_first(struct cosy_activation *run, u64 at, u8 *first)
{
	struct cosy_place place __cosy_uninitialized;
	int fault = 0;

	if (!cosy_resolve(run, at, &place))
		return false;
	cosy_access_begin();
	*first = cosy_peek_byte(place.at, &fault);
	cosy_access_end();
	if (unlikely(fault))
		cosy_leave_fault(run, at);
	return !fault;
}

/*
 * Searches a string for the needle as memmem does, in pieces whose length is known, each of which
 * has at least as many places as bytes that the next piece has again.
 */
static u64 string_search(struct cosy_activation *run, u64 hay, const struct needle *needle)
{
	u64 most = 1024, end, length, at;

	for (;;) {
		most = max(most, 2 * needle->length);
		end = cosy_find_byte(run, hay, most, 0);
		if (run->status != COSY_DONE)
			return 0;
		length = end ? end - hay : most;
		if (length < needle->length)
			return 0;
		at = needle_search(run, hay, length - needle->length + 1, needle);
		if (at || end || run->status != COSY_DONE)
			return at;
		hay += length - needle->length + 1;
		most = min(4 * most, (u64)COSY_SLICE);
	}
}

/* Places that strstr looks at by the first byte alone. */
#define FEW_PLACES 3

u64 cosy_op_strstr(struct cosy_activation *run, u64 *r)
{
	struct needle needle = { .at = r[2] };
	u64 hay = r[1], at, end;
	s64 difference;
	u32 i;

	if (!string_read_first(run, needle.at, &needle.first))
		return 0;
	if (!needle.first)
		return hay;
	for (i = 0; i < FEW_PLACES; i++) {
		at = cosy_find_in_string(run, hay, needle.first);
		if (!at)
			return 0;
		difference = memory_compare(run, needle.at, at, ~0ull, BEGINNING, NULL);
		if (run->status != COSY_DONE)
			return 0;
		if (!difference)
			return at;
		hay = at + 1;
		if (!cosy_spend(run, 0))
			return 0;
	}
	/* The first byte is a common one. */
	end = cosy_find_byte(run, needle.at, ~0ull, 0);
	if (!end)
		return 0;
	needle.length = end - needle.at;
	return needle.length && needle_read_ends(run, &needle) ? string_search(run, hay, &needle)
							       : 0;
}

/*
 * Returns the first place of a string where a byte is that is folded to `first`, or the end, which
 * *ended says.  0: it has left.
 */
static u64 folded_find(struct cosy_activation *run, u64 from, s32 first, const u8 *table,
		       bool *ended)
{
	struct cosy_place place __cosy_uninitialized;
	int fault = 0;
	u64 now, i;
	u8 byte;

	*ended = false;
	for (;;) {
		if (!cosy_resolve(run, from, &place))
			return 0;
		now = min(cosy_readable(&place), (u64)COSY_SLICE);
		cosy_access_begin();
		for (i = 0; i < now; i++) {
			byte = cosy_peek_byte(place.at + i, &fault);
			if (byte_fold(table, byte, &fault) == first || !byte || fault)
				break;
		}
		cosy_access_end();
		if (unlikely(fault)) {
			cosy_leave_fault(run, from);
			return 0;
		}
		from += i;
		if (i < now) {
			*ended = !byte;
			return from;
		}
		if (!cosy_spend(run, now))
			return 0;
	}
}

/* Searches by the table at r3. */
u64 cosy_op_strcasestr(struct cosy_activation *run, u64 *r)
{
	u64 hay = r[1], needle = r[2];
	const u8 *table = table_reach(run, r[3]);
	s64 difference;
	int fault = 0;
	bool ended;
	s32 folded;
	u8 first;

	if (!table || !string_read_first(run, needle, &first))
		return 0;
	if (!first)
		return hay;
	cosy_access_begin();
	folded = byte_fold(table, first, &fault);
	cosy_access_end();
	if (unlikely(fault)) {
		cosy_leave_fault(run, r[3]);
		return 0;
	}
	for (;;) {
		hay = folded_find(run, hay, folded, table, &ended);
		if (!hay || ended)
			return 0;
		difference = memory_compare(run, needle, hay, ~0ull, FOLDED_BEGINNING, table);
		if (run->status != COSY_DONE)
			return 0;
		if (!difference)
			return hay;
		hay++;
		if (!cosy_spend(run, 0))
			return 0;
	}
}
