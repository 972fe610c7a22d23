// SPDX-License-Identifier: GPL-2.0
/*
 * memory_format.c - writes text from pieces, as snprintf does (core/format.h).
 *
 * A string is copied and its end searched for in one pass.  The place where the next byte goes is
 * found once, and again where its memory ends.  A number's text is put together first.
 */
#include "memory/memory.h"
#include "memory/operations.h"

struct memory_text {
	struct cosy_activation *run;
	const u8 *pieces;	 /* where they can be read */
	u64 to;			 /* the next byte goes there */
	u64 room;		 /* bytes that may be written from there on, without the NUL */
	u64 total;		 /* bytes of the text so far */
	struct cosy_place place; /* of `to`; above == 0: to be found again */
	bool ended;		 /* a NUL is at `to` */
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

/* Writes the first `length` bytes of `word`, 1 to 8.  Between begin and end. */
static __always_inline bool bytes_poke(u8 *to, u64 word, u64 length)
{
	if (length & 8) {
		cosy_poke_word(word, to, fault);
		return true;
	}
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
	bool done;

	cosy_access_begin();
	done = bytes_poke(out->place.at, word, length);
	cosy_access_end();
	if (unlikely(!done)) {
		cosy_leave_fault(out->run, out->to);
		return false;
	}
	out_advance(out, length);
	return true;
}

/* Writes up to a word piece by piece, as far as there is room. */
static noinline bool word_divide(struct memory_text *out, u64 word, u32 length)
{
	u64 left = min_t(u64, length, out->room), now;

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

static __always_inline bool out_word(struct memory_text *out, u64 word, u32 length)
{
	out->total += length;
	out->ended = false;
	if (likely(length <= out->room && length <= out->place.above))
		return word_write(out, word, length);
	return word_divide(out, word, length);
}

/* Returns a word of kernel memory, of which less than all may be wanted. */
static __always_inline u64 word_of(const u8 *bytes, u32 length)
{
	u64 word = 0;

	for (u32 i = 0; i < length; i++)
		word |= (u64)bytes[i] << (8 * i);
	return word;
}

/* Writes bytes that fit into the room and into the place; the last word may overlap the others. */
static __always_inline bool bytes_write(u8 *to, const u8 *bytes, u32 length)
{
	u32 i;

	cosy_access_begin();
	for (i = 0; i + COSY_WORD <= length; i += COSY_WORD)
		cosy_poke_word(*(const u64 *)(bytes + i), to + i, fault);
	if (i < length && i) {
		i = length - COSY_WORD;
		cosy_poke_word(*(const u64 *)(bytes + i), to + i, fault);
	} else if (i < length && !bytes_poke(to, word_of(bytes, length), length)) {
		goto fault;
	}
	cosy_access_end();
	return true;
fault:
	cosy_access_end();
	return false;
}

static bool out_put(struct memory_text *out, const u8 *bytes, u32 length)
{
	u32 now;

	if (likely(length <= out->room && length <= out->place.above)) {
		out->total += length;
		out->ended = false;
		if (unlikely(!bytes_write(out->place.at, bytes, length))) {
			cosy_leave_fault(out->run, out->to);
			return false;
		}
		out_advance(out, length);
		return true;
	}
	for (; length; bytes += now, length -= now) {
		now = min_t(u32, length, COSY_WORD);
		if (!out_word(out, word_of(bytes, now), now))
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
 * Copies a string's bytes with its NUL, at most `most`.  Returns how many without the NUL; *ended:
 * that is written.
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
			if (!bytes_poke(to + i, word, left + 1))
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
		cosy_poke_byte(byte, to + i, fault);
		if (!byte) {
			*ended = true;
			goto out;
		}
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

	out->ended = false;
	while (most && out->room) {
		if (!out_reach(out) || !cosy_resolve(out->run, from, &place))
			return false;
		now = min(cosy_readable(&place), out->place.above);
		now = min(min(now, out->room), min_t(u64, most, COSY_SLICE));
		done = string_write(out->place.at, place.at, now, &out->ended);
		if (unlikely(done == STRING_FAULTED)) {
			cosy_leave_fault_of(out->run, &out->place, out->to, &place, from);
			return false;
		}
		out->total += done;
		out_advance(out, done);
		if (likely(out->ended))
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
	const u8 *at = out->pieces + i * sizeof(*piece);
	u64 *words = (u64 *)piece;
	int fault = 0;

	BUILD_BUG_ON(sizeof(*piece) != 3 * COSY_WORD);
	cosy_access_begin();
	words[0] = cosy_peek_word(at, &fault);
	words[1] = cosy_peek_word(at + COSY_WORD, &fault);
	words[2] = cosy_peek_word(at + 2 * COSY_WORD, &fault);
	cosy_access_end();
	return likely(!fault);
}

#define format_out memory_text
#include "format.h"
#include "memory/reach.h"

u64 cosy_op_format(struct cosy_activation *run, u64 *r)
{
	u64 size = r[2], count = r[4];
	struct memory_text out = {
		.run = run,
		.to = r[1],
		.room = size ? size - 1 : 0,
	};
	struct cosy_text_piece piece __cosy_uninitialized;
	s64 error = 0;

	if (unlikely(count > COSY_MAX_PIECES))
		return -EINVAL;
	if (unlikely(cosy_has_views(run)))
		cosy_views_write_back_memory(run, r[1], size);
	out.pieces = cosy_reach(run, r[3], count * sizeof(piece));
	if (unlikely(count && !out.pieces))
		goto fault;
	/* Nothing is reached that is not written to. */
	if (out.room && count && !out_reach(&out))
		return 0;
	for (u32 i = 0; i < count; i++) {
		if (unlikely(!out_get(&out, &piece, i)))
			goto fault;
		if (unlikely(!format_piece(&out, &piece, &error)))
			return error;
	}
	if (size && !out.ended) {
		out.room++;
		if (!out_word(&out, 0, 1))
			return 0;
		out.total--;
	}
	return out.total > INT_MAX ? -EOVERFLOW : out.total;

fault:
	cosy_leave_fault(run, r[3]);
	return 0;
}
