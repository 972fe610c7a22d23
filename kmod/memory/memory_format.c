// SPDX-License-Identifier: GPL-2.0
/*
 * memory_format.c - writes text from pieces, as snprintf does (core/format.h).
 *
 * A string is copied and its end searched for in one pass.  The place where the next byte goes is
 * found once, and again where its memory ends.
 */
#include "memory/memory.h"
#include "memory/operations.h"

struct memory_text {
	struct cosy_activation *run;
	u64 pieces;
	u64 to;			 /* the next byte goes there */
	u64 room;		 /* bytes that may be written from there on, without the NUL */
	u64 total;		 /* bytes of the text so far */
	struct cosy_place place; /* of `to`; above == 0: to be found again */
};

/* Has out->place be that of out->to.  False: it has left. */
static __always_inline bool out_reach(struct memory_text *out)
{
	return likely(out->place.above) || cosy_resolve(out->run, out->to, &out->place);
}

static __always_inline void out_advance(struct memory_text *out, u64 bytes)
{
	out->to += bytes;
	out->room -= bytes;
	out->place.at += bytes;
	out->place.above -= bytes;
}

/* Writes the first `length` bytes of `word`, less than 8.  Between begin and end. */
static __always_inline bool bytes_poke(u8 *to, u64 word, u64 length)
{
	if (length & 4) {
		cosy_note_write(to, 4);
		unsafe_put_user((u32)word, (u32 __user *)to, fault);
		to += 4;
		word >>= 32;
	}
	if (length & 2) {
		cosy_note_write(to, 2);
		unsafe_put_user((u16)word, (u16 __user *)to, fault);
		to += 2;
		word >>= 16;
	}
	if (length & 1)
		cosy_poke_byte((u8)word, to, fault);
	return true;
fault:
	return false;
}

/* Writes up to a word, which fits into the room and into the place. */
static __always_inline bool word_write(struct memory_text *out, u64 word, u64 length)
{
	bool done = true;

	cosy_access_begin();
	if (length == COSY_WORD)
		cosy_poke_word(word, out->place.at, fault);
	else
		done = bytes_poke(out->place.at, word, length);
	cosy_access_end();
	if (likely(done)) {
		out_advance(out, length);
		return true;
	}
	goto leave;
fault:
	cosy_access_end();
leave:
	cosy_leave_fault(out->run, out->to);
	return false;
}

static bool out_word(struct memory_text *out, u64 word, u32 length)
{
	u64 left = min_t(u64, length, out->room), now;

	out->total += length;
	while (left) {
		if (!out_reach(out))
			return false;
		now = min(left, out->place.above);
		if (!word_write(out, word, now))
			return false;
		left -= now;
		word >>= 8 * (now % COSY_WORD);
	}
	return true;
}

static bool out_put(struct memory_text *out, const u8 *bytes, u32 length)
{
	u64 word;
	u32 now;

	for (; length; bytes += now, length -= now) {
		now = min_t(u32, length, COSY_WORD);
		word = 0;
		memcpy(&word, bytes, now);
		if (!out_word(out, word, now))
			return false;
	}
	return true;
}

static bool out_fill(struct memory_text *out, u8 byte, u64 length)
{
	u64 left = min(length, out->room), now;

	out->total += length;
	/* Count only what is written. */
	while (left) {
		now = min_t(u64, left, COSY_WORD);
		out->total -= now;
		if (!out_word(out, byte * COSY_ONES, now) || !cosy_spend(out->run, now))
			return false;
		left -= now;
	}
	return true;
}

static bool out_measure(struct memory_text *out, u64 from, u64 most, u64 *length)
{
	u64 end = cosy_find_byte(out->run, from, most, 0);

	*length = end ? end - from : most;
	return out->run->status == COSY_DONE;
}

#define STRING_FAULTED (~0ull)

/*
 * Copies a string's bytes up to its NUL, at most `most`.  Returns how many; *ended: the NUL
 * follows.
 */
static __always_inline u64 string_write(u8 *to, const u8 *from, u64 most, bool *ended)
{
	u64 i = 0, word, zeroes, left;
	int fault = 0;
	u8 byte;

	cosy_access_begin();
	for (; i + COSY_WORD <= most; i += COSY_WORD) {
		word = cosy_peek_word(from + i, &fault);
		if (unlikely(fault))
			goto fault;
		zeroes = cosy_zeroes(word);
		if (zeroes) {
			left = cosy_first_byte(zeroes);
			if (!bytes_poke(to + i, word, left))
				goto fault;
			*ended = true;
			i += left;
			goto out;
		}
		cosy_poke_word(word, to + i, fault);
	}
	for (; i < most; i++) {
		byte = cosy_peek_byte(from + i, &fault);
		if (unlikely(fault))
			goto fault;
		if (!byte) {
			*ended = true;
			goto out;
		}
		cosy_poke_byte(byte, to + i, fault);
	}
out:
	cosy_access_end();
	return i;
fault:
	cosy_access_end();
	return STRING_FAULTED;
}

static bool out_string(struct memory_text *out, u64 from, u64 most)
{
	struct cosy_place place __cosy_uninitialized;
	u64 now, done, length;
	bool ended = false;

	while (most && out->room) {
		if (!out_reach(out) || !cosy_resolve(out->run, from, &place))
			return false;
		now = min3(cosy_readable(&place), out->place.above, (u64)COSY_SLICE);
		now = min3(now, out->room, most);
		done = string_write(out->place.at, place.at, now, &ended);
		if (unlikely(done == STRING_FAULTED)) {
			cosy_leave_fault_of(out->run, &out->place, out->to, &place, from);
			return false;
		}
		out->total += done;
		out_advance(out, done);
		if (ended)
			return true;
		from += done;
		most -= done;
		if (!cosy_spend(out->run, done))
			return false;
	}
	if (!most)
		return true;
	if (!out_measure(out, from, most, &length))
		return false;
	out->total += length;
	return true;
}

static __always_inline bool out_get(struct memory_text *out, struct cosy_text_piece *piece, u32 i)
{
	u64 address = out->pieces + i * sizeof(*piece);

	if (likely(cosy_memory_read(out->run, piece, address, sizeof(*piece))))
		return true;
	cosy_leave_fault(out->run, address);
	return false;
}

#define format_out memory_text
#include "format.h"
#include "memory/reach.h"

u64 cosy_op_format(struct cosy_activation *run, u64 *r)
{
	u64 size = r[2], count = r[4];
	struct memory_text out = {
		.run = run,
		.pieces = r[3],
		.to = r[1],
		.room = size ? size - 1 : 0,
	};
	struct cosy_text_piece piece __cosy_uninitialized;
	s64 error = 0;

	if (unlikely(count > COSY_MAX_PIECES))
		return -EINVAL;
	if (unlikely(cosy_has_views(run)))
		cosy_views_write_back_memory(run, r[1], size);
	for (u32 i = 0; i < count; i++)
		if (!out_get(&out, &piece, i) || !format_piece(&out, &piece, &error))
			return error;
	if (size) {
		out.room++;
		if (!out_word(&out, 0, 1))
			return 0;
		out.total--;
	}
	return out.total > INT_MAX ? -EOVERFLOW : out.total;
}
