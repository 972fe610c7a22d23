/* SPDX-License-Identifier: MIT */
/*
 * format_random.h - makes random formats with arguments, and their pieces, for comparisons of the
 * operation format with the C library's snprintf.
 */
#ifndef COSY_LIB_TEST_FORMAT_RANDOM_H
#define COSY_LIB_TEST_FORMAT_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../compiler/pass/calls/format_parts.h"

enum { FORMAT_ARGUMENTS = 24, FORMAT_TEXT = 200, FORMAT_PARTS = 8, FORMAT_LONGEST = 9000 };

struct format_random {
	uint64_t state;	     /* of the generator; not 0 */
	const char *strings; /* bytes without a NUL except the last one */
	size_t strings_size;
	char format[FORMAT_TEXT];
	uint64_t arguments[FORMAT_ARGUMENTS]; /* as va_arg takes them: integers and addresses */
	struct cosy_text_piece pieces[COSY_MAX_PIECES];
	uint32_t count; /* of pieces */
	uint64_t size;	/* of the buffer */
};

static inline uint64_t format_chance(struct format_random *in, uint64_t below)
{
	in->state ^= in->state << 13;
	in->state ^= in->state >> 7;
	in->state ^= in->state << 17;
	return (in->state >> 11) % below;
}

/* --- The format -------------------------------------------------------------------------- */

static inline void format_add(struct format_random *in, const char *text)
{
	size_t length = strlen(in->format);

	snprintf(in->format + length, sizeof(in->format) - length, "%s", text);
}

static inline void format_add_bound(struct format_random *in)
{
	char number[16];

	if (format_chance(in, 3) == 0) {
		format_add(in, "*");
		return;
	}
	snprintf(number, sizeof(number), "%u",
		 (unsigned)(format_chance(in, 40) ? format_chance(in, 40)
						  : format_chance(in, 700)));
	format_add(in, number);
}

static inline void format_add_conversion(struct format_random *in)
{
	static const char *const flags[] = {"-", "+", " ", "#", "0"};
	static const char *const sizes[] = {"hh", "h", "l", "ll", "q", "L", "j", "z", "Z", "t"};
	static const char *const integers[] = {"d", "i", "u", "o", "x", "X"};
	static const char *const others[] = {"s", "s", "s", "c", "p"};

	format_add(in, "%");
	while (format_chance(in, 3) == 0)
		format_add(in, flags[format_chance(in, 5)]);
	if (format_chance(in, 3) == 0)
		format_add_bound(in);
	if (format_chance(in, 3) == 0) {
		format_add(in, ".");
		if (format_chance(in, 4))
			format_add_bound(in);
	}
	if (format_chance(in, 2)) {
		format_add(in, others[format_chance(in, 5)]);
		return;
	}
	if (format_chance(in, 2))
		format_add(in, sizes[format_chance(in, 10)]);
	format_add(in, integers[format_chance(in, 6)]);
}

/* Makes a format that an operation can do. */
static inline void format_make(struct format_random *in)
{
	static const char *const texts[] = {"/",
					    "a",
					    ": ",
					    "%%",
					    "12345678",
					    "123456789",
					    "some longer text, of more than three words",
					    "\n"};

	in->format[0] = 0;
	for (uint64_t i = format_chance(in, 5); i; i--) {
		if (format_chance(in, 2))
			format_add(in, texts[format_chance(in, 8)]);
		format_add_conversion(in);
	}
	if (format_chance(in, 3) == 0)
		format_add(in, texts[format_chance(in, 8)]);
}

/* Makes text that may be a format. */
static inline void format_make_wild(struct format_random *in)
{
	static const char letters[] = "%%%%%-+ #0*.123hlqjztLdiuoxXcspnmegC$'Iw";
	uint64_t length = format_chance(in, 12);

	for (uint64_t i = 0; i < length; i++)
		in->format[i] = letters[format_chance(in, sizeof(letters) - 1)];
	in->format[length] = 0;
}

/* --- The arguments ------------------------------------------------------------------------- */

static inline uint64_t format_number_make(struct format_random *in)
{
	static const uint64_t edges[] = {0,
					 0,
					 1,
					 9,
					 10,
					 0x7f,
					 0x80,
					 0xff,
					 0x7fff,
					 0x8000,
					 0xffff,
					 0x7fffffff,
					 0x80000000,
					 0xffffffff,
					 0x100000000,
					 INT64_MAX,
					 (uint64_t)INT64_MIN,
					 UINT64_MAX};

	if (format_chance(in, 2))
		return edges[format_chance(in, sizeof(edges) / sizeof(*edges))];
	return (in->state ^ in->state << 29) >> format_chance(in, 64);
}

static inline uint64_t format_string_make(struct format_random *in)
{
	static const char *const some[] = {NULL,
					   "",
					   "a",
					   "name.c",
					   "directory",
					   "12345678",
					   "123456789012345",
					   "1234567890123456"};
	uint64_t length;

	if (format_chance(in, 2))
		return (uint64_t)(uintptr_t)some[format_chance(in, 8)];
	length = format_chance(in, 8) ? format_chance(in, 40) : format_chance(in, in->strings_size);
	return (uint64_t)(uintptr_t)(in->strings + in->strings_size - 1 - length);
}

/* Makes arguments for all parts, and the pieces that a compiler would. */
static inline void format_fill(struct format_random *in, const struct format_part *parts, int count)
{
	uint32_t argument = 0;

	in->count = 0;
	for (int i = 0; i < count; i++) {
		struct cosy_text_piece piece = parts[i].piece;

		if (piece.kind == COSY_PIECE_TEXT) {
			if (parts[i].length > 24) {
				piece.kind = COSY_PIECE_STRING;
				piece.flags = COSY_PIECE_PRECISION;
				piece.precision = (int)parts[i].length;
				piece.value = (uint64_t)(uintptr_t)in->format + parts[i].offset;
				in->pieces[in->count++] = piece;
				continue;
			}
			for (uint32_t at = 0; at < parts[i].length; at += 8) {
				uint32_t left = parts[i].length - at;

				piece.width = left < 8 ? left : 8;
				piece.value = cosy_format_word(in->format + parts[i].offset + at,
							       piece.width);
				in->pieces[in->count++] = piece;
			}
			continue;
		}
		if (parts[i].width_given) {
			piece.width = (int)format_chance(in, 60) - 20;
			in->arguments[argument++] = (uint64_t)piece.width;
		}
		if (parts[i].precision_given) {
			piece.precision = (int)format_chance(in, 40) - 5;
			in->arguments[argument++] = (uint64_t)piece.precision;
		}
		piece.value = piece.kind == COSY_PIECE_STRING ? format_string_make(in)
							      : format_number_make(in);
		in->arguments[argument++] = piece.value;
		if (piece.kind == COSY_PIECE_SIGNED)
			piece.value =
				(uint64_t)((int64_t)(piece.value << (64 - 8 * parts[i].bytes)) >>
					   (64 - 8 * parts[i].bytes));
		else if (piece.kind >= COSY_PIECE_UNSIGNED && piece.kind <= COSY_PIECE_UPPER)
			piece.value = piece.value << (64 - 8 * parts[i].bytes) >>
				      (64 - 8 * parts[i].bytes);
		in->pieces[in->count++] = piece;
	}
}

/*
 * Makes the next format, with its arguments and pieces.  False: an operation cannot do it, as may
 * be if it is wild.
 */
static inline int format_next(struct format_random *in, int wild)
{
	struct format_part parts[FORMAT_PARTS * 2];
	int count;

	if (wild)
		format_make_wild(in);
	else
		format_make(in);
	count = cosy_format_parse(in->format, parts, FORMAT_PARTS * 2);
	if (count < 0)
		return 0;
	format_fill(in, parts, count);
	in->size = format_chance(in, 3)	  ? FORMAT_LONGEST
		   : format_chance(in, 8) ? format_chance(in, 40)
					  : format_chance(in, FORMAT_LONGEST);
	return 1;
}

/* Calls snprintf.  Each argument takes a place of its own, whatever its type is. */
static inline int format_by_libc(const struct format_random *in, char *buffer)
{
	const uint64_t *a = in->arguments;

	_Static_assert(FORMAT_ARGUMENTS == 24, "one argument each");
	_Pragma("GCC diagnostic push")
		_Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"") return snprintf(
			buffer, in->size, in->format, a[0], a[1], a[2], a[3], a[4], a[5], a[6],
			a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17],
			a[18], a[19], a[20], a[21], a[22], a[23]);
	_Pragma("GCC diagnostic pop")
}

#endif /* COSY_LIB_TEST_FORMAT_RANDOM_H */
