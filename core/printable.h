/* SPDX-License-Identifier: MIT */
/*
 * printable.h - makes foreign text harmless before it reaches a person's terminal:
 * names of files and programs, environment variables, arguments, file contents.  Such text may
 * hold escape sequences, or newlines by which it looks like two messages.
 *
 * Each tool and library formats a whole line, cleans it and appends the newline.  The text is taken
 * as UTF-8, wherever its bytes come from.
 */
#ifndef COSY_CORE_PRINTABLE_H
#define COSY_CORE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* What printable_character returns for bytes that are no UTF-8. */
#define PRINTABLE_BAD 0xfffd

/*
 * Returns the character at `text` and its bytes in *len; PRINTABLE_BAD and 1 where it is no UTF-8.
 * Does not look beyond a byte that is zero.
 */
static inline unsigned int printable_character(const unsigned char *text, unsigned int *len)
{
	static const unsigned int least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned int c = *text, n = c < 0x80	   ? 1
				    : c >> 5 == 6  ? 2
				    : c >> 4 == 14 ? 3
				    : c >> 3 == 30 ? 4
						   : 0;

	*len = 1;
	if (n < 2)
		return n ? c : PRINTABLE_BAD;
	c &= 0xff >> (n + 1);
	for (unsigned int i = 1; i < n; i++) {
		if (text[i] >> 6 != 2)
			return PRINTABLE_BAD;
		c = c << 6 | (text[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return PRINTABLE_BAD;
	*len = n;
	return c;
}

/* True if the character moves the cursor, colours, reverses the writing, or takes no room. */
static inline bool printable_controls(unsigned int c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) ||
	       c >= 0xe0000;
}

/* Replaces each such character of `text`, and each byte that is no UTF-8, by one `?`, in place. */
static inline void printable_clean(char *text)
{
	unsigned char *to = (unsigned char *)text;
	unsigned int len;

	for (const unsigned char *from = to; *from; from += len) {
		unsigned int c = printable_character(from, &len);

		if (c == PRINTABLE_BAD || printable_controls(c)) {
			*to++ = '?';
			continue;
		}
		for (unsigned int i = 0; i < len; i++)
			*to++ = from[i];
	}
	*to = 0;
}

#endif /* COSY_CORE_PRINTABLE_H */
