// SPDX-License-Identifier: GPL-2.0
/*
 * memory_ops.c - mem* and str* on the compound's memory.
 *
 * A range in the shared buffer is reached by the kernel's mapping of it, any other
 * as user memory, piece by piece.  Both by the same loads and stores, which may
 * fault, from an address that resolve() has bounded and masked.  The user may
 * change what is read between two reads of it; then the result is one of the
 * two, and no bound depends on it.
 *
 * run->insn is the operation's instruction throughout.
 */
#include <linux/cosy.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include "access.h"
#include "compat/compat.h"
#include "frame.h"
#include "limits.h"
#include "memory_ops.h"
#include "program.h"

/* The numbers of ops.def. */
enum {
#define COSY_OP(number, name, args, flags) OP_##name = (number),
#include "../core/ops.def"
};

/* Bytes of work between two looks around; also of one piece. */
#define SLICE (16 << 10)

/* False: stop, the activation says why. */
static __always_inline bool spend(struct cosy_activation *run, u64 bytes)
{
	run->op_work += bytes + 64;
	if (likely(run->op_work < SLICE))
		return true;
	run->op_work = 0;
	return !cosy_limits_pause(run, run->insn, run->op_resumes);
}

static void leave_fault(struct cosy_activation *run, u64 address)
{
	cosy_leave_at(run, COSY_LEFT_FAULT, run->insn, address);
}

/* --- Where an address is --------------------------------------------------------- */

struct place {
	u8 *at;			/* in the kernel's mapping of the buffer, or user memory */
	u64 before, behind;	/* bytes below `at`, and from it on, that are reached alike */
	bool user;
};

/* False, and it has left, for what is no user address. */
static __always_inline bool resolve(struct cosy_activation *run, u64 address, struct place *ret)
{
	const struct cosy_prog *prog = run->prog;
	u64 offset = address - prog->buffer_address;

	if (offset < prog->buffer_size) {
		offset &= prog->buffer_size - 1;
		ret->at = prog->buffer + offset;
		ret->before = offset;
		ret->behind = prog->buffer_size - offset;
		ret->user = false;
		return true;
	}
	if (unlikely(address >= TASK_SIZE_MAX)) {
		leave_fault(run, address);
		return false;
	}
	address &= array_index_mask_nospec(address, TASK_SIZE_MAX);
	ret->at = (u8 *)address;
	ret->before = address;
	ret->behind = TASK_SIZE_MAX - address;
	ret->user = true;
	return true;
}

/*
 * Bytes from `place` on that can be read if the first can: to the end of the page,
 * or of the buffer.  Both ends are aligned, so that whole words are there.
 */
static __always_inline u64 readable(const struct place *place)
{
	return place->user ? PAGE_SIZE - offset_in_page(place->at) : place->behind;
}

/* --- Searching --------------------------------------------------------------------- */

#define NOT_FOUND	(~0ull)
#define FAULTED		(~1ull)

/* The lowest byte of which cosy_zeroes found the high bit. */
static __always_inline u32 first_byte(u64 highs)
{
	return __ffs(highs) / 8;
}

/*
 * Index of the first of `length` bytes at `at` that has `pattern`'s value or, with
 * `zero`, is 0.  Reads whole aligned words.
 */
static __always_inline u64 scan(const u8 *at, u64 length, u64 pattern, bool zero)
{
	u64 skew = (unsigned long)at % COSY_WORD, word, hit, i;
	const u8 *base = at - skew;
	int fault = 0;

	cosy_access_begin();
	word = cosy_peek_word(base, &fault);
	hit = cosy_zeroes_exactly(word ^ pattern);
	if (zero)
		hit |= cosy_zeroes_exactly(word);
	hit &= ~0ull << (8 * skew);
	length += skew;
	i = 0;
	if (hit)
		goto out;

	for (i = COSY_WORD; i < length; i += COSY_WORD) {
		/* Blocks as long as there is nothing; word by word to where there is. */
		while (i + COSY_BLOCK <= length) {
			hit = cosy_peek_match(base + i, pattern, &fault);
			if (zero)
				hit |= cosy_peek_match(base + i, 0, &fault);
			if (unlikely(hit || fault))
				break;
			i += COSY_BLOCK;
		}
		if (i >= length)
			break;
		word = cosy_peek_word(base + i, &fault);
		hit = cosy_zeroes(word ^ pattern);
		if (zero)
			hit |= cosy_zeroes(word);
		if (hit || fault)
			goto out;
	}
	hit = 0;
out:
	cosy_access_end();
	if (unlikely(fault))
		return FAULTED;
	if (!hit)
		return NOT_FOUND;
	i += first_byte(hit);
	return i < length ? i - skew : NOT_FOUND;
}

/* The address of what scan looks for; 0: there is none, or (run->status) it has left. */
static __always_inline u64 find(struct cosy_activation *run, u64 from, u64 length, u8 byte, bool zero)
{
	u64 pattern = byte * COSY_ONES, index, now;
	struct place place __cosy_uninitialized;

	while (length) {
		if (!resolve(run, from, &place))
			return 0;
		now = min3(readable(&place), length, (u64)SLICE);
		index = scan(place.at, now, pattern, zero);
		if (likely(index < now))
			return from + index;
		if (index == FAULTED) {
			leave_fault(run, from);
			return 0;
		}
		from += now;
		length -= now;
		if (!spend(run, now))
			return 0;
	}
	return 0;
}

/* Two instances, shared by all that search. */
static noinline u64 find_byte(struct cosy_activation *run, u64 from, u64 length, u8 byte)
{
	return find(run, from, length, byte, false);
}

static noinline u64 find_byte_or_end(struct cosy_activation *run, u64 from, u8 byte)
{
	return find(run, from, ~0ull, byte, true);
}

/* Whether the byte that find_byte_or_end found is that byte, not the end. */
static bool is_byte(struct cosy_activation *run, u64 address, u8 byte)
{
	struct place place __cosy_uninitialized;
	int fault = 0;
	u8 found;

	if (!resolve(run, address, &place))
		return false;
	cosy_access_begin();
	found = cosy_peek_byte(place.at, &fault);
	cosy_access_end();
	if (fault)
		leave_fault(run, address);
	return !fault && found == byte;
}

static u64 op_strnlen(struct cosy_activation *run, u64 from, u64 length)
{
	u64 at = find_byte(run, from, length, 0);

	return at ? at - from : length;
}

static u64 op_strchr(struct cosy_activation *run, u64 from, u8 byte)
{
	u64 at = find_byte_or_end(run, from, byte);

	return at && is_byte(run, at, byte) ? at : 0;
}

static u64 op_strrchr(struct cosy_activation *run, u64 from, u8 byte)
{
	u64 at, last = 0;

	if (!byte)
		return find_byte(run, from, ~0ull, 0);
	for (;;) {
		at = op_strchr(run, from, byte);
		if (!at || !spend(run, 0))
			return last;
		last = at;
		from = at + 1;
	}
}

/* As scan, from the end down: the distance of the last such byte from `end`, from 1 on. */
static u64 scan_back(const u8 *end, u64 length, u64 pattern)
{
	u64 done = 0, hit;
	int fault = 0;

	cosy_access_begin();
	while (done < length && !fault) {
		const u8 *at = end - done;

		if ((unsigned long)at % COSY_WORD == 0 && length - done >= COSY_WORD) {
			hit = cosy_zeroes_exactly(cosy_peek_word(at - COSY_WORD, &fault) ^ pattern);
			if (hit && !fault) {
				cosy_access_end();
				return done + COSY_WORD - __fls(hit) / 8;
			}
			done += COSY_WORD;
		} else {
			if (cosy_peek_byte(at - 1, &fault) == (u8)pattern && !fault) {
				cosy_access_end();
				return done + 1;
			}
			done++;
		}
	}
	cosy_access_end();
	return fault ? FAULTED : NOT_FOUND;
}

static noinline u64 op_memrchr(struct cosy_activation *run, u64 from, u8 byte, u64 length)
{
	struct place place __cosy_uninitialized;
	u64 index, now;

	while (length) {
		/* The last byte says what kind of memory it is. */
		if (!resolve(run, from + length - 1, &place))
			return 0;
		now = place.user ? offset_in_page(place.at) : place.before;
		now = min3(now + 1, length, (u64)SLICE);
		index = scan_back(place.at + 1, now, byte * COSY_ONES);
		if (index <= now)
			return from + length - index;
		if (index == FAULTED) {
			leave_fault(run, from + length - 1);
			return 0;
		}
		length -= now;
		if (!spend(run, now))
			return 0;
	}
	return 0;
}

/* --- Comparing ------------------------------------------------------------------------ */

enum { SAME, DIFFERENT, ENDED, UNREADABLE };

/*
 * As memcmp, or as strncmp with `zero`.  ENDED: they are the same up to a 0.
 * `room` bytes can be read of both, of which `length` count.
 */
static __always_inline int differ(const u8 *a, const u8 *b, u64 length, u64 room, bool zero,
				  s64 *difference)
{
	u64 va, vb, bits, ends, i = 0;
	int fault = 0;
	u32 shift;

	cosy_access_begin();
	while (!zero && i + COSY_BLOCK <= length) {
		if (cosy_peek_difference(a + i, b + i, &fault) || fault)
			break;
		i += COSY_BLOCK;
	}
	for (; i < length && i + COSY_WORD <= room && !fault; i += COSY_WORD) {
		va = cosy_peek_word(a + i, &fault);
		vb = cosy_peek_word(b + i, &fault);
		bits = va ^ vb;
		ends = zero ? cosy_zeroes(va) : 0;
		if (!(bits | ends) || fault)
			continue;
		/* The lowest byte that differs, or is the end. */
		shift = __ffs(bits | ends) & ~7u;
		if (i + shift / 8 >= length)
			break;
		cosy_access_end();
		*difference = (s64)(u8)(va >> shift) - (u8)(vb >> shift);
		return *difference ? DIFFERENT : ENDED;
	}
	for (; i < length && !fault; i++) {
		u8 ba = cosy_peek_byte(a + i, &fault), bb = cosy_peek_byte(b + i, &fault);

		if ((ba == bb && !(zero && !ba)) || fault)
			continue;
		cosy_access_end();
		*difference = (s64)ba - bb;
		return *difference ? DIFFERENT : ENDED;
	}
	cosy_access_end();
	return fault ? UNREADABLE : SAME;
}

/* Which of the two it was that faulted, when that is known. */
static void leave_fault_of(struct cosy_activation *run, const struct place *a, u64 a_address,
			   const struct place *b, u64 b_address)
{
	if (a->user && b->user)
		leave_fault(run, 0);
	else
		leave_fault(run, a->user ? a_address : b_address);
}

static __always_inline s64 compare(struct cosy_activation *run, u64 a, u64 b, u64 length, bool zero)
{
	struct place place_a __cosy_uninitialized, place_b __cosy_uninitialized;
	u64 now, room;
	s64 difference;

	while (length) {
		if (!resolve(run, a, &place_a) || !resolve(run, b, &place_b))
			return 0;
		room = min(readable(&place_a), readable(&place_b));
		now = min3(room, length, (u64)SLICE);
		switch (differ(place_a.at, place_b.at, now, room, zero, &difference)) {
		case DIFFERENT:
			return difference;
		case ENDED:
			return 0;
		case UNREADABLE:
			leave_fault_of(run, &place_a, a, &place_b, b);
			return 0;
		}
		a += now;
		b += now;
		length -= now;
		if (!spend(run, now))
			return 0;
	}
	return 0;
}

static noinline s64 op_memcmp(struct cosy_activation *run, u64 a, u64 b, u64 length)
{
	return compare(run, a, b, length, false);
}

static noinline s64 op_strncmp(struct cosy_activation *run, u64 a, u64 b, u64 length)
{
	return compare(run, a, b, length, true);
}

/*
 * Index of the first of `length` places in the buffer where `first` is, and `last`
 * `ahead` bytes behind it; both bytes in all places.  What the words hold may change
 * meanwhile: the answer is a candidate, to be compared.
 */
static __always_inline u64 scan_ends(const u8 *at, u64 ahead, u64 length, u64 first, u64 last)
{
	u64 differ[2], hit, i = 0;
	int k;

	for (; i + 2 * COSY_WORD <= length; i += 2 * COSY_WORD) {
		for (k = 0; k < 2; k++) {
			const u8 *word = at + i + k * COSY_WORD;

			differ[k] = (READ_ONCE(*(const u64 *)word) ^ first) |
				    (READ_ONCE(*(const u64 *)(word + ahead)) ^ last);
		}
		/* Finds every zero byte, and bytes above 0x80 besides. */
		hit = (differ[0] - COSY_ONES) | (differ[1] - COSY_ONES);
		if (likely(!(hit & COSY_HIGHS)))
			continue;
		for (k = 0; k < 2; k++) {
			hit = cosy_zeroes(differ[k]);
			if (hit)
				return i + k * COSY_WORD + first_byte(hit);
		}
	}
	for (; i < length; i++) {
		if (READ_ONCE(at[i]) == (u8)first && READ_ONCE(at[i + ahead]) == (u8)last)
			return i;
	}
	return NOT_FOUND;
}

struct needle {
	u64 at, length;		/* length is not 0 */
	u8 first, last;		/* its ends */
};

/*
 * The first of `length` places where the needle may be: both its ends are there,
 * or, outside the buffer, its first byte.  0: none, or it has left.
 */
static noinline u64 find_ends(struct cosy_activation *run, u64 from, u64 length,
			      const struct needle *needle)
{
	u64 ahead = needle->length - 1, index, now;
	struct place place __cosy_uninitialized;

	while (length) {
		if (!resolve(run, from, &place))
			return 0;
		now = min(length, (u64)SLICE);
		if (!place.user && place.behind > ahead) {
			now = min(now, place.behind - ahead);
			index = scan_ends(place.at, ahead, now, needle->first * COSY_ONES,
					  needle->last * COSY_ONES);
		} else {
			now = min(now, readable(&place));
			index = scan(place.at, now, needle->first * COSY_ONES, false);
		}
		if (likely(index < now))
			return from + index;
		if (index == FAULTED) {
			leave_fault(run, from);
			return 0;
		}
		from += now;
		length -= now;
		if (!spend(run, now))
			return 0;
	}
	return 0;
}

/* The needle's ends; false: it has left. */
static __always_inline bool read_ends(struct cosy_activation *run, struct needle *needle)
{
	u64 last = needle->at + needle->length - 1;
	struct place place __cosy_uninitialized;
	int fault = 0;

	if (!resolve(run, needle->at, &place))
		return false;
	cosy_access_begin();
	needle->first = cosy_peek_byte(place.at, &fault);
	cosy_access_end();
	if (unlikely(needle->length > readable(&place))) {
		if (!resolve(run, last, &place))
			return false;
	} else {
		place.at += needle->length - 1;
	}
	cosy_access_begin();
	needle->last = cosy_peek_byte(place.at, &fault);
	cosy_access_end();
	if (unlikely(fault))
		leave_fault(run, needle->at);
	return !fault;
}

static noinline u64 op_memmem(struct cosy_activation *run, u64 hay, u64 hay_length, u64 needle_at,
			      u64 needle_length)
{
	struct needle needle __cosy_uninitialized;
	u64 places, at;
	s64 difference;

	if (!needle_length)
		return hay;
	needle.at = needle_at;
	needle.length = needle_length;
	if (hay_length < needle_length || !read_ends(run, &needle))
		return 0;
	/* Not 0, since the needle is not empty. */
	places = hay_length - needle_length + 1;
	for (;;) {
		at = find_ends(run, hay, places, &needle);
		if (!at)
			return 0;
		difference = compare(run, at, needle.at, needle.length, false);
		if (run->status != COSY_DONE)
			return 0;
		if (!difference)
			return at;
		places -= at + 1 - hay;
		hay = at + 1;
		if (!places || !spend(run, 0))
			return 0;
	}
}

/* --- Copying ---------------------------------------------------------------------------- */

/* Copies up from the first byte; the number of bytes done, all but at a fault. */
static u64 copy_up(u8 *to, const u8 *from, u64 length)
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
static u64 copy_down(u8 *to, const u8 *from, u64 length)
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
 * What is left to do stays right when it starts over: every byte counted as done
 * is, and no byte of the rest's source has been written to.  That is why ranges
 * that overlap, where a fault could come between, are copied in order, word by
 * word; others as the kernel copies user memory.
 */
static __always_inline u64 copy_piece(const struct place *to, const struct place *from, u64 length,
				      bool overlap)
{
	if (!to->user && !from->user) {
		memmove(to->at, from->at, length);
		return length;
	}
	if (overlap)
		return copy_up(to->at, from->at, length);
	return length - copy_user_generic(to->at, from->at, length);
}

/* As memmove upwards; advances what it is given.  False: it has left. */
static noinline bool move_up(struct cosy_activation *run, u64 *to, u64 *from, u64 *length)
{
	bool overlap = *from - *to < *length;
	struct place to_place __cosy_uninitialized, from_place __cosy_uninitialized;
	u64 now, done;

	while (*length) {
		if (!resolve(run, *to, &to_place) || !resolve(run, *from, &from_place))
			return false;
		now = min3(min(to_place.behind, from_place.behind), (u64)SLICE, *length);
		done = copy_piece(&to_place, &from_place, now, overlap);
		*to += done;
		*from += done;
		*length -= done;
		if (unlikely(done < now)) {
			leave_fault_of(run, &to_place, *to, &from_place, *from);
			return false;
		}
		if (!spend(run, now))
			return false;
	}
	return true;
}

/* As memmove downwards: only the length changes. */
static noinline bool move_down(struct cosy_activation *run, u64 to, u64 from, u64 *length)
{
	struct place to_place __cosy_uninitialized, from_place __cosy_uninitialized;
	u64 now, done;

	while (*length) {
		if (!resolve(run, to + *length - 1, &to_place) ||
		    !resolve(run, from + *length - 1, &from_place))
			return false;
		now = min3(min(to_place.before, from_place.before) + 1, (u64)SLICE, *length);
		to_place.at -= now - 1;
		from_place.at -= now - 1;
		if (!to_place.user && !from_place.user) {
			memmove(to_place.at, from_place.at, now);
			done = now;
		} else {
			done = copy_down(to_place.at, from_place.at, now);
		}
		*length -= done;
		if (unlikely(done < now)) {
			leave_fault_of(run, &to_place, to + *length - 1, &from_place,
				       from + *length - 1);
			return false;
		}
		if (!spend(run, now))
			return false;
	}
	return true;
}

static __always_inline void op_memmove(struct cosy_activation *run, u64 *to, u64 *from, u64 *length)
{
	if (*to - *from < *length && *to != *from)
		move_down(run, *to, *from, length);
	else
		move_up(run, to, from, length);
}

static u64 fill(u8 *to, u64 word, u64 length)
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

static noinline bool op_memset(struct cosy_activation *run, u64 *to, u8 byte, u64 *length)
{
	struct place place __cosy_uninitialized;
	u64 now, done;

	while (*length) {
		if (!resolve(run, *to, &place))
			return false;
		now = min3(place.behind, (u64)SLICE, *length);
		if (place.user) {
			done = fill(place.at, byte * COSY_ONES, now);
		} else {
			memset(place.at, byte, now);
			done = now;
		}
		*to += done;
		*length -= done;
		if (unlikely(done < now)) {
			leave_fault(run, *to);
			return false;
		}
		if (!spend(run, now))
			return false;
	}
	return true;
}

/* The address of the copy's terminating 0, or 0: it has left. */
static noinline u64 op_stpcpy(struct cosy_activation *run, u64 to, u64 from)
{
	u64 length, end;

	/* A bounded piece at a time, so that little is read twice. */
	for (;;) {
		end = find_byte(run, from, PAGE_SIZE, 0);
		if (run->status != COSY_DONE)
			return 0;
		length = end ? end - from + 1 : PAGE_SIZE;
		if (!move_up(run, &to, &from, &length))
			return 0;
		if (end)
			return to - 1;
	}
}

static noinline void op_strncpy(struct cosy_activation *run, u64 to, u64 from, u64 length)
{
	u64 used = op_strnlen(run, from, length), copied = used, padding;

	if (run->status != COSY_DONE || !move_up(run, &to, &from, &copied))
		return;
	padding = length - used;
	op_memset(run, &to, 0, &padding);
}

/* --- All operations ------------------------------------------------------------------------ */

u64 cosy_op(struct cosy_activation *run, u64 *r, u32 word)
{
	u64 to = r[1];
	u8 byte = r[2];

	run->ops++;
	run->insn = word >> 16;
	run->op_work = 0;
	run->op_resumes = false;
	switch (word & 0xffff) {
	case OP_ctx:
		return run->ctx;
	case OP_trap:
		cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
		return 0;
	case OP_fence:
		smp_mb();
		return 0;
	case OP_alloca:
		return cosy_frame_alloca(run, r[1], run->insn);
	case OP_memcpy:
	case OP_memmove:
		run->op_resumes = true;
		op_memmove(run, &r[1], &r[2], &r[3]);
		return 0;
	case OP_memset:
		run->op_resumes = true;
		op_memset(run, &r[1], byte, &r[3]);
		return 0;
	case OP_memcmp:
		return op_memcmp(run, r[1], r[2], r[3]);
	case OP_memchr:
		return find_byte(run, r[1], r[3], byte);
	case OP_memrchr:
		return op_memrchr(run, r[1], byte, r[3]);
	case OP_memmem:
		return op_memmem(run, r[1], r[2], r[3], r[4]);
	case OP_strlen:
		return op_strnlen(run, r[1], ~0ull);
	case OP_strnlen:
		return op_strnlen(run, r[1], r[2]);
	case OP_strcmp:
		return op_strncmp(run, r[1], r[2], ~0ull);
	case OP_strncmp:
		return op_strncmp(run, r[1], r[2], r[3]);
	case OP_strchr:
		return op_strchr(run, r[1], byte);
	case OP_strrchr:
		return op_strrchr(run, r[1], byte);
	case OP_strcpy:
		op_stpcpy(run, r[1], r[2]);
		return to;
	case OP_stpcpy:
		return op_stpcpy(run, r[1], r[2]);
	case OP_strncpy:
		op_strncpy(run, r[1], r[2], r[3]);
		return to;
	case OP_strchrnul:
		return find_byte_or_end(run, r[1], byte);
	case OP_rawmemchr:
		return find_byte(run, r[1], ~0ull, byte);
	default:
		/* The validator knows no other. */
		cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
		return 0;
	}
}
