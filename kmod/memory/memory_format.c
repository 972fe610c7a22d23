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
 * that is written.  Between begin and end.
 */
static __always_inline u64 string_copy(u8 *to, const u8 *from, u64 most, bool *ended)
{
	u64 i = 0, word, zeroes, left;
	int fault = 0;
	u8 byte;

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
			return i + left;
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
			return i;
		}
	}
	return i;
fault:
	return STRING_FAULTED;
}

/* Does the same by itself. */
static __always_inline u64 string_write(u8 *to, const u8 *from, u64 most, bool *ended)
{
	u64 ret;

	cosy_access_begin();
	ret = string_copy(to, from, most, ended);
	cosy_access_end();
	return ret;
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

/* --- Plain pieces: strings and text as they are, of which paths are made -------------------- */

/* What plain_write has written, and where the next byte goes. */
struct plain_text {
	u32 pieces; /* so many are done */
	u64 total;  /* bytes of them */
	u8 *to;
	u64 room;   /* bytes that are reached from there on, with the one for the NUL */
	bool ended; /* a NUL is at `to` */
};

/*
 * Finds where to access the byte at `address`, and how many bytes from there on are reached alike:
 * to the end of the buffer or of the page.  False if it is no user's.  For a RUN without views.
 */
static __always_inline bool plain_place(const struct cosy_program *prog, u64 address, u8 **at,
					u64 *above)
{
	u64 offset = cosy_buffer_offset(prog, address);

	if (likely(cosy_buffer_has_byte(prog, offset))) {
		offset = cosy_buffer_mask(prog, offset);
		*at = prog->buffer + offset;
		*above = prog->buffer_size - offset;
		return true;
	}
	if (unlikely(address >= TASK_SIZE_MAX))
		return false;
	*at = (u8 *)(address & array_index_mask_nospec(address, cosy_user_end()));
	*above = PAGE_SIZE - offset_in_page(*at);
	return true;
}

/*
 * Writes the first pieces, as far as they are plain, and fit where the text begins; r: the
 * operation's arguments.  Returns what is written; its state stays in registers.  The piece that it
 * ends at may be written in part, and is to be written again.
 */
static __always_inline struct plain_text plain_write(const struct cosy_program *prog,
						     const u8 *piece, const u64 *r)
{
	u64 head, value, length, above, count = r[4];
	struct plain_text text = { 0 };
	int fault = 0;
	u8 *from;

	if (!plain_place(prog, r[1], &text.to, &text.room))
		return text;
	text.room = min(text.room, r[2]);
	cosy_access_begin();
	for (; text.pieces < count; text.pieces++, piece += sizeof(struct cosy_text_piece)) {
		head = cosy_peek_word(piece, &fault);
		value = cosy_peek_word(piece + offsetof(struct cosy_text_piece, value), &fault);
		if (unlikely(fault))
			break;
		text.ended = false;
		if (head == COSY_PIECE_STRING && value) {
			if (!plain_place(prog, value, &from, &above))
				break;
			above = min(min(above, text.room), (u64)COSY_SLICE);
			length = string_copy(text.to, from, above, &text.ended);
			if (unlikely(!text.ended))
				break;
		} else if ((u32)head == COSY_PIECE_TEXT) {
			length = head >> 32;
			if (length - 1 >= COSY_WORD || length >= text.room)
				break;
			if (unlikely(!bytes_poke(text.to, value, length)))
				break;
		} else {
			break;
		}
		text.to += length;
		text.room -= length;
		text.total += length;
	}
	if (text.pieces == count && !text.ended) {
		cosy_poke_byte(0, text.to, fault);
		text.ended = true;
	}
fault:
	cosy_access_end();
	return text;
}

/* --- Any pieces ------------------------------------------------------------------------------- */

#define format_out memory_text
#include "format.h"
#include "memory/reach.h"

/* Writes the pieces after `done`, which have written `total` bytes.  r: the operation's arguments. */
static noinline u64 format_rest(struct cosy_activation *run, const u64 *r, const u8 *pieces,
				u32 done, u64 total)
{
	u64 size = r[2], count = r[4];
	struct memory_text out = {
		.run = run,
		.pieces = pieces,
		.to = r[1] + total,
		.room = size ? size - 1 - total : 0,
		.total = total,
	};
	struct cosy_text_piece piece __cosy_uninitialized;
	s64 error = 0;

	/* Nothing is reached that is not written to. */
	if (out.room && count && !out_reach(&out))
		return 0;
	for (u32 i = done; i < count; i++) {
		if (unlikely(!out_get(&out, &piece, i))) {
			cosy_leave_fault(run, r[3]);
			return 0;
		}
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
}

u64 cosy_op_format(struct cosy_activation *run, u64 *r)
{
	u64 size = r[2], count = r[4];
	struct plain_text plain = { 0 };
	const u8 *pieces;

	if (unlikely(count > COSY_MAX_PIECES))
		return -EINVAL;
	pieces = cosy_reach(run, r[3], count * sizeof(struct cosy_text_piece));
	if (unlikely(count && !pieces)) {
		cosy_leave_fault(run, r[3]);
		return 0;
	}
	if (unlikely(cosy_has_views(run)))
		cosy_views_write_back_memory(run, r[1], size);
	else if (likely(size && count))
		plain = plain_write(run->prog, pieces, r);
	if (likely(plain.pieces == count && plain.ended))
		return plain.total;
	return format_rest(run, r, pieces, plain.pieces, plain.total);
}
