/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * format.h - formats the text of the operation `format` (struct cosy_text_piece in <linux/cosy.h>)
 * for the module and libcosy alike.  The bytes are those that the C library's snprintf writes.
 *
 * The file that includes this one defines a struct format_out and these functions on it, each of
 * which returns false if the operation has to stop:
 *
 *	bool out_get(out, struct cosy_text_piece *piece, u32 i)	reads piece number `i`
 *	bool out_put(out, const u8 *bytes, u32 length)		writes a few bytes
 *	bool out_word(out, u64 word, u32 length)		writes a word's low 1 to 8 bytes
 *	bool out_fill(out, u8 byte, u64 length)			writes `length` copies of a byte
 *	bool out_string(out, u64 from, u64 most)		writes up to `most` of a string
 *	bool out_measure(out, u64 from, u64 most, u64 *length)	finds that length, writes nothing
 *
 * `from` is the user address of the string, which a NUL ends.  Functions that write count all of
 * their bytes, including those for which there is no room.
 */
#ifndef COSY_FORMAT_H
#define COSY_FORMAT_H

#include "core.h"

/* All flags of a piece; COSY_PIECE_PRECISION is the highest. */
#define FORMAT_FLAGS (COSY_PIECE_PRECISION * 2 - 1)

/* Bound on the bytes of a number: 22 octal digits and a zero, or a sign, "0x" and 16 digits. */
#define FORMAT_MAX_NUMBER 32

/* A number with at most this many zeros and spaces before it is written at once. */
#define FORMAT_MAX_PADDING 32

/* How many spaces are written before and after a conversion's own text. */
struct format_spaces {
	u64 before, after;
};

static inline bool format_is_left(const struct cosy_text_piece *piece)
{
	return piece->flags & COSY_PIECE_LEFT || piece->width < 0;
}

static inline u64 format_width(const struct cosy_text_piece *piece)
{
	return piece->width < 0 ? -(s64)piece->width : piece->width;
}

/* True if the piece has a precision, which is then piece->precision. */
static inline bool format_is_precise(const struct cosy_text_piece *piece)
{
	return piece->flags & COSY_PIECE_PRECISION && piece->precision >= 0;
}

/* Returns the spaces around a text of `length` bytes. */
static inline struct format_spaces format_spaces(const struct cosy_text_piece *piece, u64 length)
{
	u64 width = format_width(piece), spaces = width > length ? width - length : 0;

	if (format_is_left(piece))
		return (struct format_spaces){0, spaces};
	return (struct format_spaces){spaces, 0};
}

/* Writes a short constant text, padded to the piece's width. */
static inline bool format_text(struct format_out *out, const struct cosy_text_piece *piece,
			       const char *text, u32 length)
{
	struct format_spaces spaces = format_spaces(piece, length);

	return out_fill(out, ' ', spaces.before) && out_put(out, (const u8 *)text, length) &&
	       out_fill(out, ' ', spaces.after);
}

static inline bool format_string(struct format_out *out, const struct cosy_text_piece *piece)
{
	u64 most = format_is_precise(piece) ? (u64)piece->precision : ~0ull, length;
	struct format_spaces spaces;

	/* The C library writes this text whole, or not at all if the precision is less than 6. */
	if (!piece->value)
		return format_text(out, piece, "(null)", most < 6 ? 0 : 6);
	if (!piece->width)
		return out_string(out, piece->value, most);
	if (!out_measure(out, piece->value, most, &length))
		return false;
	spaces = format_spaces(piece, length);
	return out_fill(out, ' ', spaces.before) && out_string(out, piece->value, length) &&
	       out_fill(out, ' ', spaces.after);
}

/* Writes a value's digits, which end at `end`.  Returns their start.  The value 0 has no digits. */
static inline u8 *format_digits(u8 *end, u64 value, u32 kind)
{
	const char *digits = kind == COSY_PIECE_UPPER ? "0123456789ABCDEF" : "0123456789abcdef";

	switch (kind) {
	case COSY_PIECE_SIGNED:
	case COSY_PIECE_UNSIGNED:
		/* Divide 32 bits as soon as the rest fits: that is faster. */
		for (; value >> 32; value /= 10)
			*--end = '0' + value % 10;
		for (u32 low = value; low; low /= 10)
			*--end = '0' + low % 10;
		return end;
	case COSY_PIECE_OCTAL:
		for (; value; value >>= 3)
			*--end = '0' + (value & 7);
		return end;
	default:
		for (; value; value >>= 4)
			*--end = digits[value & 15];
		return end;
	}
}

/* Writes the sign and "0x", if any, which end at `end`.  Returns their start. */
static inline u8 *format_prefix(u8 *end, const struct cosy_text_piece *piece, bool negative)
{
	bool hex = piece->kind == COSY_PIECE_HEX || piece->kind == COSY_PIECE_UPPER;

	if (piece->kind == COSY_PIECE_POINTER ||
	    (hex && piece->flags & COSY_PIECE_ALTERNATE && piece->value)) {
		*--end = piece->kind == COSY_PIECE_UPPER ? 'X' : 'x';
		*--end = '0';
	}
	if (piece->kind != COSY_PIECE_SIGNED && piece->kind != COSY_PIECE_POINTER)
		return end;
	if (negative)
		*--end = '-';
	else if (piece->flags & COSY_PIECE_PLUS)
		*--end = '+';
	else if (piece->flags & COSY_PIECE_SPACE)
		*--end = ' ';
	return end;
}

/* Writes `length` copies of a byte, which end at `end`.  Returns their start. */
static inline u8 *format_pad(u8 *end, u8 byte, u64 length)
{
	for (; length; length--)
		*--end = byte;
	return end;
}

/* Writes an integer or a pointer: spaces, sign and "0x", zeros, digits, spaces. */
static inline bool format_number(struct format_out *out, const struct cosy_text_piece *piece)
{
	bool negative = piece->kind == COSY_PIECE_SIGNED && (s64)piece->value < 0;
	u8 room[FORMAT_MAX_PADDING + FORMAT_MAX_NUMBER], *end = room + sizeof(room);
	u8 *digits, *prefix;
	u64 wanted = 1, zeros = 0, width = format_width(piece);
	bool precise = format_is_precise(piece);
	struct format_spaces spaces;
	u32 length, prefix_length;

	digits = format_digits(end, negative ? -piece->value : piece->value, piece->kind);
	if (precise)
		wanted = piece->precision;
	if (!piece->value && wanted)
		*--digits = '0';
	if (piece->kind == COSY_PIECE_OCTAL && piece->flags & COSY_PIECE_ALTERNATE &&
	    wanted <= (u64)(end - digits) && (piece->value || !wanted))
		*--digits = '0';
	length = end - digits;
	if (wanted > length)
		zeros = wanted - length;
	/* Put the prefix next to the digits; it is written again if zeros come between them. */
	prefix = format_prefix(digits, piece, negative);
	prefix_length = digits - prefix;
	if (piece->flags & COSY_PIECE_ZERO && !precise && !format_is_left(piece) &&
	    width > length + zeros + prefix_length)
		zeros = width - length - prefix_length;
	spaces = format_spaces(piece, prefix_length + zeros + length);
	if (zeros + spaces.before <= FORMAT_MAX_PADDING) {
		if (zeros)
			prefix = format_prefix(format_pad(digits, '0', zeros), piece, negative);
		prefix = format_pad(prefix, ' ', spaces.before);
		return out_put(out, prefix, end - prefix) && out_fill(out, ' ', spaces.after);
	}
	if (!out_fill(out, ' ', spaces.before))
		return false;
	if (zeros) {
		if (!out_put(out, prefix, prefix_length) || !out_fill(out, '0', zeros))
			return false;
		prefix = digits;
	}
	return out_put(out, prefix, end - prefix) && out_fill(out, ' ', spaces.after);
}

static inline bool format_char(struct format_out *out, const struct cosy_text_piece *piece)
{
	struct format_spaces spaces = format_spaces(piece, 1);

	return out_fill(out, ' ', spaces.before) && out_word(out, piece->value, 1) &&
	       out_fill(out, ' ', spaces.after);
}

/*
 * Writes one piece.  Returns false if the operation has to stop: the piece is invalid and *error is
 * -EINVAL, or an out_ function returned false and *error is unchanged.
 */
static inline bool format_piece(struct format_out *out, const struct cosy_text_piece *piece,
				s64 *error)
{
	/* A plain %s, the usual piece of a path. */
	if (piece->kind == COSY_PIECE_STRING && piece->value && !piece->flags && !piece->width &&
	    !piece->reserved)
		return out_string(out, piece->value, ~0ull);
	if (piece->reserved || piece->flags & ~FORMAT_FLAGS)
		goto invalid;
	switch (piece->kind) {
	case COSY_PIECE_TEXT:
		if (piece->flags || piece->width < 1 || piece->width > 8)
			goto invalid;
		return out_word(out, piece->value, piece->width);
	case COSY_PIECE_STRING:
		return format_string(out, piece);
	case COSY_PIECE_CHAR:
		return format_char(out, piece);
	case COSY_PIECE_POINTER:
		if (!piece->value)
			return format_text(out, piece, "(nil)", 5);
		return format_number(out, piece);
	case COSY_PIECE_SIGNED:
	case COSY_PIECE_UNSIGNED:
	case COSY_PIECE_OCTAL:
	case COSY_PIECE_HEX:
	case COSY_PIECE_UPPER:
		return format_number(out, piece);
	}
invalid:
	*error = -EINVAL;
	return false;
}

#endif /* COSY_FORMAT_H */
