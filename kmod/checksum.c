// SPDX-License-Identifier: GPL-2.0
/* checksum.c - operations that look at every byte of a range. */
#include <asm/cpufeature.h>
#include "checksum.h"
#include "memory.h"

/* Bytes of `word` that equal those of `pattern`, by their number. */
static __always_inline u32 equal_bytes(u64 word, u64 pattern)
{
	return (cosy_zeroes_exactly(word ^ pattern) >> 7) * COSY_ONES >> 56;
}

/* How many of `length` bytes at `at` are `byte`; COSY_FAULTED. */
static u64 count_bytes(const u8 *at, u64 length, u8 byte)
{
	u64 pattern = byte * COSY_ONES, found = 0, i = 0;
	int fault = 0;

	cosy_access_begin();
	for (; i + COSY_WORD <= length && !fault; i += COSY_WORD)
		found += equal_bytes(cosy_peek_word(at + i, &fault), pattern);
	for (; i < length && !fault; i++)
		found += cosy_peek_byte(at + i, &fault) == byte;
	cosy_access_end();
	return fault ? COSY_FAULTED : found;
}

u64 cosy_count(struct cosy_activation *run, u64 from, u64 length, u8 byte)
{
	struct cosy_place place __cosy_uninitialized;
	u64 now, found, total = 0;

	while (length) {
		if (!cosy_resolve(run, from, &place))
			return 0;
		now = min3(cosy_readable(&place), length, (u64)COSY_SLICE);
		found = count_bytes(place.at, now, byte);
		if (unlikely(found == COSY_FAULTED)) {
			cosy_leave_fault(run, from);
			return 0;
		}
		total += found;
		from += now;
		length -= now;
		if (!cosy_spend(run, now))
			return 0;
	}
	return total;
}

/* --- CRC-32C --------------------------------------------------------------------------- */

/* The polynomial, its lowest power in the highest bit. */
#define CRC32C_POLYNOMIAL 0x82f63b78u

static __always_inline u32 crc_byte_slowly(u32 crc, u8 byte)
{
	int bit;

	crc ^= byte;
	for (bit = 0; bit < 8; bit++)
		crc = crc >> 1 ^ (crc & 1 ? CRC32C_POLYNOMIAL : 0);
	return crc;
}

/* The processor's instructions work on general registers, so need no preparation. */
static __always_inline u32 crc_byte(u32 crc, u8 byte)
{
	if (!static_cpu_has(X86_FEATURE_XMM4_2))
		return crc_byte_slowly(crc, byte);
	asm("crc32b %1, %0" : "+r" (crc) : "rm" (byte));
	return crc;
}

static __always_inline u32 crc_word(u32 crc, u64 word)
{
	u64 wide = crc;
	int i;

	if (!static_cpu_has(X86_FEATURE_XMM4_2)) {
		for (i = 0; i < COSY_WORD; i++)
			crc = crc_byte_slowly(crc, word >> 8 * i);
		return crc;
	}
	asm("crc32q %1, %0" : "+r" (wide) : "rm" (word));
	return wide;
}

/* *crc goes on over `length` bytes at `at`; false: a fault. */
static bool crc_bytes(const u8 *at, u64 length, u32 *crc)
{
	u32 now = *crc;
	int fault = 0;
	u64 i = 0;

	cosy_access_begin();
	for (; i + COSY_WORD <= length && !fault; i += COSY_WORD)
		now = crc_word(now, cosy_peek_word(at + i, &fault));
	for (; i < length && !fault; i++)
		now = crc_byte(now, cosy_peek_byte(at + i, &fault));
	cosy_access_end();
	*crc = now;
	return !fault;
}

u32 cosy_crc32c(struct cosy_activation *run, u32 crc, u64 from, u64 length)
{
	struct cosy_place place __cosy_uninitialized;
	u64 now;

	crc = ~crc;
	while (length) {
		if (!cosy_resolve(run, from, &place))
			return 0;
		now = min3(cosy_readable(&place), length, (u64)COSY_SLICE);
		if (unlikely(!crc_bytes(place.at, now, &crc))) {
			cosy_leave_fault(run, from);
			return 0;
		}
		from += now;
		length -= now;
		if (!cosy_spend(run, now))
			return 0;
	}
	return ~crc;
}
