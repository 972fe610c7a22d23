// SPDX-License-Identifier: GPL-2.0
/* scan_ops.c - operations that read every byte of a range. */
#include <asm/cpufeature.h>
#include "memory/memory.h"
#include "memory/operations.h"

/* Returns how many bytes of `word` equal those of `pattern`. */
static __always_inline u32 bytes_equal(u64 word, u64 pattern)
{
	return (cosy_zeroes_exactly(word ^ pattern) >> 7) * COSY_ONES >> 56;
}

/* Returns how many of `length` bytes at `at` are `byte`, or COSY_FAULTED. */
static u64 bytes_count(const u8 *at, u64 length, u8 byte)
{
	u64 pattern = byte * COSY_ONES, found = 0, i = 0;
	int fault = 0;

	cosy_access_begin();
	for (; i + COSY_WORD <= length && !fault; i += COSY_WORD)
		found += bytes_equal(cosy_peek_word(at + i, &fault), pattern);
	for (; i < length && !fault; i++)
		found += cosy_peek_byte(at + i, &fault) == byte;
	cosy_access_end();
	return fault ? COSY_FAULTED : found;
}

/* Counts those of the r2 bytes at r1 that are r3. */
u64 cosy_op_count(struct cosy_activation *run, u64 *r)
{
	u64 from = r[1], length = r[2];
	u8 byte = r[3];
	struct cosy_place place __cosy_uninitialized;
	u64 now, found, total = 0;

	while (length) {
		if (!cosy_resolve(run, from, &place))
			return 0;
		now = min3(cosy_readable(&place), length, (u64)COSY_SLICE);
		found = bytes_count(place.at, now, byte);
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

static __always_inline u32 crc_byte_slow(u32 crc, u8 byte)
{
	int bit;

	crc ^= byte;
	for (bit = 0; bit < 8; bit++)
		crc = crc >> 1 ^ (crc & 1 ? CRC32C_POLYNOMIAL : 0);
	return crc;
}

/* Continues `crc` over `length` bytes at `at`; sets *fault. */
static u32 crc_slow(const u8 *at, u64 length, u32 crc, int *fault)
{
	u64 i;

	for (i = 0; i < length && !*fault; i++)
		crc = crc_byte_slow(crc, cosy_peek_byte(at + i, fault));
	return crc;
}

/* Goes over the words that crc_words takes in one turn. */
#define TURN_WORDS 16
#define EACH_WORD(X)                                                                               \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define CRC_WORD(n)	   "1" #n ":	crc32q 8*" #n "(%[at]), %[crc]\n"
#define CRC_WORD_FAULTS(n) COSY_FAULTS(1##n##b)

/*
 * Continues `crc` by the processor's instructions, which work on general registers, so that
 * nothing has to be saved for them.  `turns` is at least 1; the loop is written out since a
 * compiler would look at *fault in each turn.
 */
static __always_inline u64 crc_words(const u8 *at, u64 turns, u64 crc, int *fault)
{
	cosy_note_read(at, turns * TURN_WORDS * COSY_WORD);
	asm volatile("2:\n" EACH_WORD(CRC_WORD) /* one turn */
		     "	addq %[step], %[at]\n"
		     "	decq %[turns]\n"
		     "	jnz 2b\n"
		     "9:\n" EACH_WORD(CRC_WORD_FAULTS)
		     : [crc] "+r"(crc), [at] "+r"(at), [turns] "+r"(turns), "+a"(*fault)
		     : [step] "i"(TURN_WORDS * COSY_WORD)
		     : "memory", "cc");
	return crc;
}

static u32 crc_fast(const u8 *at, u64 length, u32 crc, int *fault)
{
	u64 turns = length / (TURN_WORDS * COSY_WORD);

	if (turns) {
		crc = crc_words(at, turns, crc, fault);
		at += turns * TURN_WORDS * COSY_WORD;
		length %= TURN_WORDS * COSY_WORD;
	}
	for (; length >= COSY_WORD && !*fault; length -= COSY_WORD, at += COSY_WORD) {
		u64 wide = crc;

		asm("crc32q %1, %0" : "+r"(wide) : "r"(cosy_peek_word(at, fault)));
		crc = wide;
	}
	for (; length && !*fault; length--, at++)
		asm("crc32b %1, %0" : "+r"(crc) : "r"(cosy_peek_byte(at, fault)));
	return crc;
}

/* Continues *crc over `length` bytes at `at`; false: a fault. */
static bool crc_bytes(const u8 *at, u64 length, u32 *crc)
{
	int fault = 0;

	cosy_access_begin();
	if (cpu_feature_enabled(X86_FEATURE_XMM4_2))
		*crc = crc_fast(at, length, *crc, &fault);
	else
		*crc = crc_slow(at, length, *crc, &fault);
	cosy_access_end();
	return !fault;
}

/* Continues the CRC-32C (RFC 3720, appendix B.4) in r1, 0 for none yet, over the r3 bytes at r2. */
u64 cosy_op_crc32c(struct cosy_activation *run, u64 *r)
{
	u64 from = r[2], length = r[3];
	u32 crc = r[1];
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
