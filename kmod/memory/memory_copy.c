// SPDX-License-Identifier: GPL-2.0
/* memory_copy.c - copies and fills ranges and strings. */
#include <linux/string.h>
#include <linux/uaccess.h>
#include "memory/memory.h"
#include "memory/operations.h"
#include "move/arena.h"

/* Copies up from the first byte.  Returns the number of bytes done: all but at a fault. */
static u64 bytes_copy_up(u8 *to, const u8 *from, u64 length)
{
	int fault = 0;
	u64 word, i = 0;
	u8 byte;

	cosy_access_begin();
	for (; i + COSY_WORD <= length; i += COSY_WORD) {
		word = cosy_peek_word(from + i, &fault);
		if (fault)
			goto out;
		cosy_poke_word(word, to + i, out);
	}
	for (; i < length; i++) {
		byte = cosy_peek_byte(from + i, &fault);
		if (fault)
			goto out;
		cosy_poke_byte(byte, to + i, out);
	}
out:
	cosy_access_end();
	return i;
}

/* Copies down from the last byte. */
static u64 bytes_copy_down(u8 *to, const u8 *from, u64 length)
{
	u64 word, left = length;
	int fault = 0;
	u8 byte;

	cosy_access_begin();
	for (; left >= COSY_WORD; left -= COSY_WORD) {
		word = cosy_peek_word(from + left - COSY_WORD, &fault);
		if (fault)
			goto out;
		cosy_poke_word(word, to + left - COSY_WORD, out);
	}
	for (; left; left--) {
		byte = cosy_peek_byte(from + left - 1, &fault);
		if (fault)
			goto out;
		cosy_poke_byte(byte, to + left - 1, out);
	}
out:
	cosy_access_end();
	return length - left;
}

/*
 * Copies a piece; returns how many bytes are done.  After a fault the rest is copied again, so no
 * byte of its source may have been written to.  Ranges that overlap and may fault are therefore
 * copied in order, word by word; others as the kernel copies user memory.
 */
static __always_inline u64 piece_copy(const struct cosy_place *to, const struct cosy_place *from,
				      u64 length, bool overlap)
{
	if (!to->user && !from->user) {
		memmove(to->at, from->at, length);
		return length;
	}
	if (overlap)
		return bytes_copy_up(to->at, from->at, length);
	return length - copy_user_generic(to->at, from->at, length);
}

/* Does memmove upwards, and advances what it is given.  False: it has left. */
static bool memory_move_up(struct cosy_activation *run, u64 *to, u64 *from, u64 *length)
{
	bool overlap = *from - *to < *length;
	struct cosy_place to_place __cosy_uninitialized, from_place __cosy_uninitialized;
	u64 now, done;

	if (unlikely(cosy_has_views(run)))
		cosy_views_write_back_memory(run, *to, *length);
	while (*length) {
		if (!cosy_resolve(run, *to, &to_place) || !cosy_resolve(run, *from, &from_place))
			return false;
		now = min3(min(to_place.above, from_place.above), (u64)COSY_SLICE, *length);
		done = piece_copy(&to_place, &from_place, now, overlap);
		*to += done;
		*from += done;
		*length -= done;
		if (unlikely(done < now)) {
			cosy_leave_fault_of(run, &to_place, *to, &from_place, *from);
			return false;
		}
		if (!cosy_spend(run, now))
			return false;
	}
	return true;
}

/* Does memmove downwards: only the length changes.  False: it has left. */
static bool memory_move_down(struct cosy_activation *run, u64 to, u64 from, u64 *length)
{
	struct cosy_place to_place __cosy_uninitialized, from_place __cosy_uninitialized;
	u64 now, done;

	if (unlikely(cosy_has_views(run)))
		cosy_views_write_back_memory(run, to, *length);
	while (*length) {
		if (!cosy_resolve(run, to + *length - 1, &to_place) ||
		    !cosy_resolve(run, from + *length - 1, &from_place))
			return false;
		now = min3(min(to_place.below, from_place.below) + 1, (u64)COSY_SLICE, *length);
		to_place.at -= now - 1;
		from_place.at -= now - 1;
		if (!to_place.user && !from_place.user) {
			memmove(to_place.at, from_place.at, now);
			done = now;
		} else {
			done = bytes_copy_down(to_place.at, from_place.at, now);
		}
		*length -= done;
		if (unlikely(done < now)) {
			cosy_leave_fault_of(run, &to_place, to + *length - 1, &from_place,
					    from + *length - 1);
			return false;
		}
		if (!cosy_spend(run, now))
			return false;
	}
	return true;
}

static noinline void memory_move(struct cosy_activation *run, u64 *to, u64 *from, u64 *length)
{
	if (*to - *from < *length && *to != *from)
		memory_move_down(run, *to, *from, length);
	else
		memory_move_up(run, to, from, length);
}

static u64 words_fill(u8 *to, u64 word, u64 length)
{
	u64 i = 0;

	cosy_access_begin();
	for (; i + COSY_BLOCK <= length; i += COSY_BLOCK) {
		cosy_poke_word(word, to + i, out);
		cosy_poke_word(word, to + i + COSY_WORD, out);
		cosy_poke_word(word, to + i + 2 * COSY_WORD, out);
		cosy_poke_word(word, to + i + 3 * COSY_WORD, out);
	}
	for (; i < length; i++)
		cosy_poke_byte((u8)word, to + i, out);
out:
	cosy_access_end();
	return i;
}

static bool memory_set(struct cosy_activation *run, u64 *to, u8 byte, u64 *length)
{
	struct cosy_place place __cosy_uninitialized;
	u64 now, done;

	if (unlikely(cosy_has_views(run)))
		cosy_views_write_back_memory(run, *to, *length);
	while (*length) {
		if (!cosy_resolve(run, *to, &place))
			return false;
		now = min3(place.above, (u64)COSY_SLICE, *length);
		if (place.user) {
			done = words_fill(place.at, byte * COSY_ONES, now);
		} else {
			memset(place.at, byte, now);
			done = now;
		}
		*to += done;
		*length -= done;
		if (unlikely(done < now)) {
			cosy_leave_fault(run, *to);
			return false;
		}
		if (!cosy_spend(run, now))
			return false;
	}
	return true;
}

/* Returns the address of the copy's terminating 0, or 0: it has left. */
static noinline u64 string_copy(struct cosy_activation *run, u64 to, u64 from)
{
	u64 length, end;

	/* Copy a bounded piece at a time, so that little is read twice. */
	for (;;) {
		end = cosy_find_byte(run, from, PAGE_SIZE, 0);
		if (run->status != COSY_DONE)
			return 0;
		length = end ? end - from + 1 : PAGE_SIZE;
		if (!memory_move_up(run, &to, &from, &length))
			return 0;
		if (end)
			return to - 1;
	}
}

/*
 * Copies up to `length` bytes, all of one page, from an arena's memory by the kernel's mapping of
 * the page.  Returns how many: none where there is no such page, fewer where a fault would have to
 * be served.  The arena is locked meanwhile, so that a page that is donated cannot be read on.
 */
static u64 page_look(const struct cosy_place *to, u64 from, u64 length)
{
	struct cosy_place from_place = { .user = false };
	struct cosy_slots s;
	u64 done;

	from_place.at = (u8 *)cosy_arena_look(from, &s);
	if (!from_place.at)
		return 0;
	pagefault_disable();
	done = piece_copy(to, &from_place, length, false);
	pagefault_enable();
	cosy_slots_end(&s);
	return done;
}

/* Does memcpy.  Makes no page of an arena present, from which it reads. */
u64 cosy_op_look(struct cosy_activation *run, u64 *r)
{
	struct cosy_place to __cosy_uninitialized;
	u64 now, done;

	if (unlikely(cosy_has_views(run)))
		cosy_views_write_back_memory(run, r[1], r[3]);
	while (r[3]) {
		if (!cosy_resolve(run, r[1], &to))
			return 0;
		now = min3(to.above, (u64)(PAGE_SIZE - offset_in_page(r[2])), r[3]);
		done = page_look(&to, r[2], now);
		r[1] += done;
		r[2] += done;
		r[3] -= done;
		now -= done;
		/* Copy the rest like any memory: a fault has to be served, or it is no arena's. */
		r[3] -= now;
		if (!memory_move_up(run, &r[1], &r[2], &now)) {
			r[3] += now;
			return 0;
		}
		if (!cosy_spend(run, done))
			return 0;
	}
	return 0;
}

u64 cosy_op_memcpy(struct cosy_activation *run, u64 *r)
{
	memory_move(run, &r[1], &r[2], &r[3]);
	return 0;
}

u64 cosy_op_memmove(struct cosy_activation *run, u64 *r)
{
	memory_move(run, &r[1], &r[2], &r[3]);
	return 0;
}

u64 cosy_op_memset(struct cosy_activation *run, u64 *r)
{
	memory_set(run, &r[1], r[2], &r[3]);
	return 0;
}

u64 cosy_op_stpcpy(struct cosy_activation *run, u64 *r)
{
	return string_copy(run, r[1], r[2]);
}

u64 cosy_op_strcpy(struct cosy_activation *run, u64 *r)
{
	string_copy(run, r[1], r[2]);
	return r[1];
}

u64 cosy_op_strncpy(struct cosy_activation *run, u64 *r)
{
	u64 to = r[1], from = r[2], used, padding;
	u64 end = cosy_find_byte(run, from, r[3], 0);

	used = end ? end - from : r[3];
	padding = r[3] - used;
	if (run->status == COSY_DONE && memory_move_up(run, &to, &from, &used))
		memory_set(run, &to, 0, &padding);
	return r[1];
}
