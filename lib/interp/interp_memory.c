// SPDX-License-Identifier: MIT
/*
 * interp_memory.c - the operations of core/ops.def on memory, by libc's functions.
 *
 * Under a time limit, operations of a given length work in pieces, and may leave between two of
 * them.  Operations that change memory then hold the rest in r1-r3, as in the kernel; the others
 * start over.  Operations on strings, and memmem, work at once.
 */
#include <string.h>

#include "interp/fast_calls.h"
#include "interp/interp_ops.h"

#define PIECE (1ull << 20) /* bytes */

/* The arguments are the program's own addresses; libc's own code faults on bad ones. */
#define P(n) ((char *)r[n])
#define I(n) ((int)r[n])

/* Returns how many of `left` bytes to process before the next check of the time limit. */
static u64 piece(const struct libcosy_interp *in, u64 left)
{
	return in->max_ns && left > PIECE ? PIECE : left;
}

/* --- In pieces ---------------------------------------------------------------------------- */

static u64 memory_move(struct libcosy_interp *in)
{
	u64 *r = in->state->reg;

	do {
		u64 now = piece(in, r[3]);

		/* Where the destination is within the source the last bytes go first. */
		if (r[1] - r[2] < r[3]) {
			r[3] -= now;
			memmove(P(1) + r[3], P(2) + r[3], now);
		} else {
			memmove(P(1), P(2), now);
			r[1] += now;
			r[2] += now;
			r[3] -= now;
		}
	} while (r[3] && !libcosy_interp_leaves(in));
	return 0;
}

u64 libcosy_interp_memcpy(struct libcosy_interp *in, const u64 *r)
{
	(void)r;
	return memory_move(in);
}

u64 libcosy_interp_memmove(struct libcosy_interp *in, const u64 *r)
{
	(void)r;
	return memory_move(in);
}

u64 libcosy_interp_look(struct libcosy_interp *in, const u64 *r)
{
	(void)r;
	return memory_move(in);
}

u64 libcosy_interp_memset(struct libcosy_interp *in, const u64 *arguments)
{
	u64 *r = in->state->reg;

	(void)arguments;
	do {
		u64 now = piece(in, r[3]);

		memset(P(1), I(2), now);
		r[1] += now;
		r[3] -= now;
	} while (r[3] && !libcosy_interp_leaves(in));
	return 0;
}

/*
 * Sets *now to the size of the piece after `done` of `length` bytes.  False: there is none, or the
 * operation leaves there.
 */
static bool next_piece(struct libcosy_interp *in, u64 done, u64 length, u64 *now)
{
	*now = piece(in, length - done);
	return done < length && !(done && libcosy_interp_leaves(in));
}

u64 libcosy_interp_memcmp(struct libcosy_interp *in, const u64 *r)
{
	for (u64 done = 0, now; next_piece(in, done, r[3], &now); done += now) {
		s64 difference = memcmp(P(1) + done, P(2) + done, now);

		if (difference)
			return difference;
	}
	return 0;
}

u64 libcosy_interp_memchr(struct libcosy_interp *in, const u64 *r)
{
	for (u64 done = 0, now; next_piece(in, done, r[3], &now); done += now) {
		const char *found = memchr(P(1) + done, I(2), now);

		if (found)
			return (u64)found;
	}
	return 0;
}

u64 libcosy_interp_memrchr(struct libcosy_interp *in, const u64 *r)
{
	for (u64 done = 0, now; next_piece(in, done, r[3], &now); done += now) {
		const char *found = memrchr(P(1) + r[3] - done - now, I(2), now);

		if (found)
			return (u64)found;
	}
	return 0;
}

u64 libcosy_interp_strnlen(struct libcosy_interp *in, const u64 *r)
{
	for (u64 done = 0, now; next_piece(in, done, r[2], &now); done += now) {
		u64 length = strnlen(P(1) + done, now);

		if (length < now)
			return done + length;
	}
	return r[2];
}

u64 libcosy_interp_count(struct libcosy_interp *in, const u64 *r)
{
	u64 count = 0;

	for (u64 done = 0, now; next_piece(in, done, r[2], &now); done += now)
		count += libcosy_do_count(P(1) + done, now, r[3]);
	return count;
}

u64 libcosy_interp_crc32c(struct libcosy_interp *in, const u64 *r)
{
	u32 crc = r[1];

	for (u64 done = 0, now; next_piece(in, done, r[3], &now); done += now)
		crc = libcosy_do_crc32c(crc, P(2) + done, now);
	return crc;
}

/* --- At once ------------------------------------------------------------------------------ */

#define AS_LIBC(name, expression)                                                                  \
	u64 libcosy_interp_##name(struct libcosy_interp *in, const u64 *r)                         \
	{                                                                                          \
		(void)in;                                                                          \
		return (u64)(expression);                                                          \
	}

AS_LIBC(memmem, memmem(P(1), r[2], P(3), r[4]))
AS_LIBC(strlen, strlen(P(1)))
AS_LIBC(strcmp, (s64)strcmp(P(1), P(2)))
AS_LIBC(strncmp, (s64)strncmp(P(1), P(2), r[3]))
AS_LIBC(strchr, strchr(P(1), I(2)))
AS_LIBC(strrchr, strrchr(P(1), I(2)))
AS_LIBC(strcpy, strcpy(P(1), P(2)))
AS_LIBC(stpcpy, stpcpy(P(1), P(2)))
AS_LIBC(strncpy, strncpy(P(1), P(2), r[3]))
AS_LIBC(strchrnul, strchrnul(P(1), I(2)))
AS_LIBC(rawmemchr, rawmemchr(P(1), I(2)))
AS_LIBC(strstr, strstr(P(1), P(2)))

/* --- Without regard to case, by a table --------------------------------------------------- */

/* Compares as strncasecmp does; or, with `beginning`, what `b` begins with. */
static s64 folded_compare(const u8 *a, const u8 *b, u64 length, const s32 *lower, bool beginning)
{
	for (; length; a++, b++, length--) {
		s64 difference = (s64)lower[*a] - lower[*b];

		if (beginning && !*a)
			return 0;
		if (difference || !*a)
			return difference;
	}
	return 0;
}

u64 libcosy_interp_strncasecmp(struct libcosy_interp *in, const u64 *r)
{
	(void)in;
	return folded_compare((u8 *)P(1), (u8 *)P(2), r[3], (s32 *)P(4), false);
}

u64 libcosy_interp_strcasestr(struct libcosy_interp *in, const u64 *r)
{
	const u8 *needle = (u8 *)P(2);

	(void)in;
	for (const u8 *at = (u8 *)P(1);; at++) {
		if (!folded_compare(needle, at, ~0ull, (s32 *)P(3), true))
			return (u64)at;
		if (!*at)
			return 0;
	}
}
