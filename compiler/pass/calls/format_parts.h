/* SPDX-License-Identifier: MIT */
/* format_parts.h - the parts of a format of printf. */
#ifndef COSY_PASS_FORMAT_PARTS_H
#define COSY_PASS_FORMAT_PARTS_H

#include "../../../core/core.h"

/* Text of the format, or a conversion, which takes up to three arguments. */
struct format_part {
  struct cosy_text_piece piece; /* without the fields that arguments give */
  /* Given by arguments of type int, which precede the value. */
  bool width_given, precision_given;
  u8 bytes;           /* of the integer that is converted: 1, 2, 4 or 8 */
  u32 offset, length; /* text: where it is in the format */
};

/*
 * Divides `format` into at most `most` parts.  Returns their number; -E2BIG if
 * there are more; -EINVAL if the operation does not support one of them.
 */
s32 cosy_format_parse(const char *format, struct format_part *parts, u32 most);

/* Returns the value of a piece of text of up to 8 bytes. */
u64 cosy_format_word(const char *text, u32 length);

#endif /* COSY_PASS_FORMAT_PARTS_H */
