// SPDX-License-Identifier: GPL-2.0
/* memory_single.c - view_load and view_store: single accesses, of bytes that a view may hold. */
#include "memory/memory.h"
#include "memory/operations.h"

static bool access_is_valid(struct cosy_activation *run, u64 size)
{
	if (likely(size <= sizeof(u64) && is_power_of_2(size)))
		return true;
	cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
	return false;
}

/*
 * Loads as many bytes as are reached alike from `address` on, at most `size`.  Returns how many;
 * 0: it has left.
 */
static u64 piece_load(struct cosy_activation *run, u64 address, u64 size, u8 *to)
{
	struct cosy_place place __cosy_uninitialized;
	int fault = 0;
	u64 i;

	if (!cosy_resolve(run, address, &place))
		return 0;
	size = min(size, place.above);
	cosy_access_begin();
	for (i = 0; i < size && !fault; i++)
		to[i] = cosy_peek_byte(place.at + i, &fault);
	cosy_access_end();
	if (likely(!fault))
		return size;
	cosy_leave_fault(run, address);
	return 0;
}

/* Loads user memory, or bytes that do not lie next to each other. */
static noinline u64 pieces_load(struct cosy_activation *run, u64 address, u64 size)
{
	u64 value = 0, done, now;

	for (done = 0; done < size; done += now) {
		now = piece_load(run, address + done, size - done, (u8 *)&value + done);
		if (!now)
			return 0;
	}
	return value;
}

u64 cosy_op_view_load(struct cosy_activation *run, u64 *r)
{
	u64 address = r[1], size = r[2];
	struct cosy_place place __cosy_uninitialized;
	u16 half;
	u32 word;
	u64 whole;

	if (!access_is_valid(run, size) || !cosy_resolve(run, address, &place))
		return 0;
	if (unlikely(place.user || size > place.above))
		return pieces_load(run, address, size);
	switch (size) {
	case 1:
		return *place.at;
	case 2:
		memcpy(&half, place.at, sizeof(half));
		return half;
	case 4:
		memcpy(&word, place.at, sizeof(word));
		return word;
	default:
		memcpy(&whole, place.at, sizeof(whole));
		return whole;
	}
}

static u64 piece_store(struct cosy_activation *run, u64 address, u64 size, const u8 *from)
{
	struct cosy_place place __cosy_uninitialized;
	u64 i = 0;

	if (!cosy_resolve(run, address, &place))
		return 0;
	size = min(size, place.above);
	cosy_access_begin();
	for (; i < size; i++)
		cosy_poke_byte(from[i], place.at + i, out);
out:
	cosy_access_end();
	if (likely(i == size))
		return size;
	cosy_leave_fault(run, address);
	return 0;
}

u64 cosy_op_view_store(struct cosy_activation *run, u64 *r)
{
	u64 address = r[1], value = r[2], size = r[3];
	u64 done, now;

	if (!access_is_valid(run, size))
		return 0;
	if (cosy_has_views(run)) {
		if (cosy_view_keep(run, address, value, size))
			return 0;
		cosy_views_write_back_memory(run, address, size);
	}
	for (done = 0; done < size; done += now) {
		now = piece_store(run, address + done, size - done, (u8 *)&value + done);
		if (!now)
			break;
	}
	return 0;
}
