// SPDX-License-Identifier: MIT
/* interp_format.c - the operation format in user mode: see core/format.h. */
#include <limits.h>
#include <string.h>

#include "interp/interp_ops.h"

struct format_out {
	u64 pieces; /* their address */
	char *to;   /* the next byte goes there */
	u64 room;   /* bytes that may be written from there on, without the NUL */
	u64 total;  /* bytes of the text so far */
};

/* Returns how many of `length` bytes of text can be written, and counts all. */
static u64 out_take(struct format_out *out, u64 length)
{
	u64 now = length < out->room ? length : out->room;

	out->total += length;
	out->room -= now;
	return now;
}

static bool out_get(struct format_out *out, struct cosy_text_piece *piece, u32 i)
{
	memcpy(piece, (const void *)(out->pieces + i * sizeof(*piece)), sizeof(*piece));
	return true;
}

static bool out_put(struct format_out *out, const u8 *bytes, u32 length)
{
	u64 now = out_take(out, length);

	memcpy(out->to, bytes, now);
	out->to += now;
	return true;
}

static bool out_word(struct format_out *out, u64 word, u32 length)
{
	return out_put(out, (const u8 *)&word, length);
}

static bool out_fill(struct format_out *out, u8 byte, u64 length)
{
	u64 now = out_take(out, length);

	memset(out->to, byte, now);
	out->to += now;
	return true;
}

static bool out_measure(struct format_out *out, u64 from, u64 most, u64 *length)
{
	(void)out;
	*length = strnlen((const char *)from, most < PTRDIFF_MAX ? most : PTRDIFF_MAX);
	return true;
}

static bool out_string(struct format_out *out, u64 from, u64 most)
{
	u64 length, now;

	out_measure(out, from, most, &length);
	now = out_take(out, length);

	/* It may be the buffer itself, which is undefined but common. */
	memmove(out->to, (const char *)from, now);
	out->to += now;
	return true;
}

#include "../../core/format.h"

u64 libcosy_interp_format(struct libcosy_interp *in, const u64 *r)
{
	u64 size = r[2], count = r[4];
	struct format_out out = {
		.pieces = r[3],
		.to = (char *)r[1],
		.room = size ? size - 1 : 0,
	};
	struct cosy_text_piece piece;
	s64 error = 0;

	(void)in;
	if (count > COSY_MAX_PIECES)
		return -EINVAL;
	for (u32 i = 0; i < count; i++)
		if (!out_get(&out, &piece, i) || !format_piece(&out, &piece, &error))
			return error;
	if (size)
		*out.to = 0;
	return out.total > INT_MAX ? (u64)-EOVERFLOW : out.total;
}
