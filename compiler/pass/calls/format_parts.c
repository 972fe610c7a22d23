// SPDX-License-Identifier: MIT
/*
 * format_parts.c - divides a format of printf into what becomes pieces of the
 * operation format.
 *
 * Refuses all that the operation cannot do: floating-point numbers, wide
 * characters, %n and %m, numbered arguments, grouping, and whatever the C
 * standard leaves undefined.
 */
#include <limits.h>

#include "format_parts.h"

struct reader {
  const char *format, *at;
  struct format_part *part;
};

static u8 flag_of(char c) {
  switch (c) {
  case '-':
    return COSY_PIECE_LEFT;
  case '+':
    return COSY_PIECE_PLUS;
  case ' ':
    return COSY_PIECE_SPACE;
  case '#':
    return COSY_PIECE_ALTERNATE;
  case '0':
    return COSY_PIECE_ZERO;
  }
  return 0;
}

/* Reads a number up to an int's largest, 0 if there is none.  False: it is
 * larger. */
static bool number_read(struct reader *in, s32 *number) {
  s64 value = 0;

  for (; *in->at >= '0' && *in->at <= '9'; in->at++) {
    value = value * 10 + (*in->at - '0');
    if (value > INT_MAX)
      return false;
  }
  *number = value;
  return true;
}

/* Reads a width or a precision, or that an argument has it. */
static bool bound_read(struct reader *in, s32 *bound, bool *given) {
  *given = *in->at == '*';
  if (!*given)
    return number_read(in, bound);
  in->at++;
  return true;
}

/* Returns the bytes of an integer that an argument has, by the letters before
 * the conversion. */
static u8 size_read(struct reader *in) {
  switch (*in->at) {
  case 'h':
    in->at++;
    if (*in->at != 'h')
      return 2;
    in->at++;
    return 1;
  case 'l':
    in->at++;
    if (*in->at == 'l')
      in->at++;
    return 8;
  case 'q':
  case 'L':
  case 'j':
  case 'z':
  case 'Z':
  case 't':
    in->at++;
    return 8;
  }
  return 4;
}

static bool conversion_read(struct reader *in) {
  struct format_part *part = in->part;
  u8 flag;

  while ((flag = flag_of(*in->at))) {
    part->piece.flags |= flag;
    in->at++;
  }
  if (!bound_read(in, &part->piece.width, &part->width_given))
    return false;
  if (*in->at == '.') {
    in->at++;
    part->piece.flags |= COSY_PIECE_PRECISION;
    if (!bound_read(in, &part->piece.precision, &part->precision_given))
      return false;
  }
  part->bytes = size_read(in);
  switch (*in->at++) {
  case 'd':
  case 'i':
    part->piece.kind = COSY_PIECE_SIGNED;
    return true;
  case 'u':
    part->piece.kind = COSY_PIECE_UNSIGNED;
    return true;
  case 'o':
    part->piece.kind = COSY_PIECE_OCTAL;
    return true;
  case 'x':
    part->piece.kind = COSY_PIECE_HEX;
    return true;
  case 'X':
    part->piece.kind = COSY_PIECE_UPPER;
    return true;
  case 'c':
    part->piece.kind = COSY_PIECE_CHAR;
    return part->bytes == 4;
  case 's':
    part->piece.kind = COSY_PIECE_STRING;
    return part->bytes == 4;
  case 'p':
    part->piece.kind = COSY_PIECE_POINTER;
    return part->bytes == 4;
  }
  return false;
}

/* Reads text up to a conversion; one of two percent signs belongs to it. */
static void text_read(struct reader *in) {
  const char *from = in->at;

  while (*in->at && *in->at != '%')
    in->at++;
  in->part->piece.kind = COSY_PIECE_TEXT;
  in->part->offset = from - in->format;
  if (in->at[0] == '%' && in->at[1] == '%') {
    in->part->length = ++in->at - from;
    in->at++;
    return;
  }
  in->part->length = in->at - from;
}

s32 cosy_format_parse(const char *format, struct format_part *parts, u32 most) {
  struct reader in = {.format = format, .at = format};
  u32 count = 0;

  for (; *in.at; count++) {
    if (count == most)
      return -E2BIG;
    in.part = &parts[count];
    memset(in.part, 0, sizeof(*in.part));
    if (in.at[0] != '%' || in.at[1] == '%') {
      text_read(&in);
      continue;
    }
    in.at++;
    if (!conversion_read(&in))
      return -EINVAL;
  }
  return count;
}

u64 cosy_format_word(const char *text, u32 length) {
  u64 word = 0;

  for (u32 i = 0; i < length; i++)
    word |= (u64)(u8)text[i] << (8 * i);
  return word;
}
