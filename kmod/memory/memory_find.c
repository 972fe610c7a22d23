// SPDX-License-Identifier: GPL-2.0
/* memory_find.c - finds the first or last byte of a value. */
#include "memory/memory.h"
#include "memory/operations.h"

/*
 * Returns the address of the byte that cosy_scan searches for; 0: there is none, or (run->status)
 * it has left.
 */
static __always_inline u64 memory_find(struct cosy_activation *run, u64 from, u64 length, u8 byte,
				       bool zero, u8 *found)
{
	u64 pattern = byte * COSY_ONES, index, now;
	struct cosy_place place __cosy_uninitialized;

	while (length) {
		if (!cosy_resolve(run, from, &place))
			return 0;
		now = min3(cosy_readable(&place), length, (u64)COSY_SLICE);
		index = cosy_scan(place.at, now, pattern, zero, found);
		if (likely(index < now))
			return from + index;
		if (!cosy_search_goes_on(run, &from, &length, now, index))
			return 0;
	}
	return 0;
}

/* Two instances of memory_find are shared by all that search. */
u64 cosy_find_byte(struct cosy_activation *run, u64 from, u64 length, u8 byte)
{
	return memory_find(run, from, length, byte, false, NULL);
}

static noinline u64 memory_find_or_end(struct cosy_activation *run, u64 from, u8 byte, u8 *found)
{
	return memory_find(run, from, ~0ull, byte, true, found);
}

u64 cosy_find_in_string(struct cosy_activation *run, u64 from, u8 byte)
{
	u8 found = 0;
	u64 at = memory_find_or_end(run, from, byte, &found);

	return found == byte ? at : 0;
}

u64 cosy_op_memchr(struct cosy_activation *run, u64 *r)
{
	return cosy_find_byte(run, r[1], r[3], r[2]);
}

u64 cosy_op_rawmemchr(struct cosy_activation *run, u64 *r)
{
	return cosy_find_byte(run, r[1], ~0ull, r[2]);
}

u64 cosy_op_strnlen(struct cosy_activation *run, u64 *r)
{
	u64 at = cosy_find_byte(run, r[1], r[2], 0);

	return at ? at - r[1] : r[2];
}

u64 cosy_op_strlen(struct cosy_activation *run, u64 *r)
{
	u64 at = cosy_find_byte(run, r[1], ~0ull, 0);

	return at ? at - r[1] : ~0ull;
}

u64 cosy_op_strchrnul(struct cosy_activation *run, u64 *r)
{
	u8 found;

	return memory_find_or_end(run, r[1], r[2], &found);
}

u64 cosy_op_strchr(struct cosy_activation *run, u64 *r)
{
	return cosy_find_in_string(run, r[1], r[2]);
}

u64 cosy_op_strrchr(struct cosy_activation *run, u64 *r)
{
	u64 from = r[1], at, last = 0;
	u8 byte = r[2];

	if (!byte)
		return cosy_find_byte(run, from, ~0ull, 0);
	for (;;) {
		at = cosy_find_in_string(run, from, byte);
		if (!at || !cosy_spend(run, 0))
			return last;
		last = at;
		from = at + 1;
	}
}

/*
 * Scans as cosy_scan does, from the end down.  Returns the distance of the last such byte from
 * `end`, from 1 on.
 */
static u64 memory_scan_back(const u8 *end, u64 length, u64 pattern)
{
	u64 done = 0, hit;
	int fault = 0;

	cosy_access_begin();
	while (done < length && !fault) {
		const u8 *at = end - done;

		if ((unsigned long)at % COSY_WORD == 0 && length - done >= COSY_WORD) {
			while (length - done >= COSY_BLOCK &&
			       !cosy_peek_match(end - done - COSY_BLOCK, pattern, &fault) && !fault)
				done += COSY_BLOCK;
			if (length - done < COSY_WORD || fault)
				continue;
			at = end - done;
			hit = cosy_zeroes_exactly(cosy_peek_word(at - COSY_WORD, &fault) ^ pattern);
			if (hit && !fault) {
				cosy_access_end();
				return done + COSY_WORD - __fls(hit) / 8;
			}
			done += COSY_WORD;
		} else {
			if (cosy_peek_byte(at - 1, &fault) == (u8)pattern && !fault) {
				cosy_access_end();
				return done + 1;
			}
			done++;
		}
	}
	cosy_access_end();
	return fault ? COSY_FAULTED : COSY_NOT_FOUND;
}

u64 cosy_op_memrchr(struct cosy_activation *run, u64 *r)
{
	u64 from = r[1], length = r[3];
	u8 byte = r[2];
	struct cosy_place place __cosy_uninitialized;
	u64 index, now;

	while (length) {
		/* The last byte says in what kind of memory it is. */
		if (!cosy_resolve(run, from + length - 1, &place))
			return 0;
		now = place.user ? offset_in_page(place.at) : place.below;
		now = min3(now + 1, length, (u64)COSY_SLICE);
		index = memory_scan_back(place.at + 1, now, byte * COSY_ONES);
		if (index <= now)
			return from + length - index;
		if (index == COSY_FAULTED) {
			cosy_leave_fault(run, from + length - 1);
			return 0;
		}
		length -= now;
		if (!cosy_spend(run, now))
			return 0;
	}
	return 0;
}
