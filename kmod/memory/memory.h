/* SPDX-License-Identifier: GPL-2.0 */
/*
 * memory.h - ranges of a compound's memory, and how operations reach them.
 *
 * Operations reach a range in the shared buffer through the kernel's mapping, and any other range
 * as user memory, piece by piece.  Both use the same loads and stores (access.h), which may fault,
 * at an address that cosy_resolve has bounded and masked.  The user may change bytes between two
 * reads of them; then the result is one of the two, and no bound depends on it.
 *
 * run->insn is the operation's instruction throughout. run->status shows that an operation has
 * left; its result then means nothing.
 */
#ifndef COSY_MEMORY_H
#define COSY_MEMORY_H

#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "load/program.h"
#include "memory/access.h"
#include "memory/reach.h"
#include "run/limits.h"
#include "view/view.h"

/* Maximum bytes of work between two safepoints, and in one piece. */
#define COSY_SLICE (16 << 10)

/* Starts a RUN, in which there was no operation yet. */
static inline void cosy_progress_init(struct cosy_progress *progress)
{
	progress->ops = 0;
}

/* Counts an operation's work.  False: it has to stop, and run->status says why. */
static __always_inline bool cosy_spend(struct cosy_activation *run, u64 bytes)
{
	run->progress.work += bytes + 64;
	if (likely(run->progress.work < COSY_SLICE))
		return true;
	run->progress.work = 0;
	return !cosy_limits_pause(run, run->insn, run->progress.resumes);
}

static inline void cosy_leave_fault(struct cosy_activation *run, u64 address)
{
	cosy_leave_at(run, COSY_LEFT_FAULT, run->insn, address);
}

/*
 * Finds where to read the byte at `address`.  False, with the compound left, for an address that is
 * no user's.  A writer first writes back the views of its range, so that this finds the buffer.
 */
static __always_inline bool cosy_resolve(struct cosy_activation *run, u64 address,
					 struct cosy_place *ret)
{
	const struct cosy_program *prog = run->prog;
	u64 offset = cosy_buffer_offset(prog, address);

	if (cosy_buffer_has_byte(prog, offset)) {
		offset = cosy_buffer_mask(prog, offset);
		ret->at = prog->buffer + offset;
		ret->below = offset;
		ret->above = prog->buffer_size - offset;
		ret->user = false;
		if (unlikely(cosy_has_views(run)))
			cosy_view_place(run, offset, ret);
		return true;
	}
	if (unlikely(address >= TASK_SIZE_MAX)) {
		cosy_leave_fault(run, address);
		return false;
	}
	address &= array_index_mask_nospec(address, cosy_user_end());
	ret->at = (u8 *)address;
	ret->below = address;
	ret->above = TASK_SIZE_MAX - address;
	ret->user = true;
	return true;
}

/*
 * Returns how many bytes from `place` on can be read if the first can: to the end of the page, of
 * the buffer, or of a view.  Whole words are there at either end, though not all of them may
 * belong to the range.
 */
static __always_inline u64 cosy_readable(const struct cosy_place *place)
{
	return place->user ? PAGE_SIZE - offset_in_page(place->at) : place->above;
}

/* Leaves for a fault at one of two places, and says at which when that is known. */
static inline void cosy_leave_fault_of(struct cosy_activation *run, const struct cosy_place *a,
				       u64 a_address, const struct cosy_place *b, u64 b_address)
{
	if (a->user && b->user)
		cosy_leave_fault(run, 0);
	else
		cosy_leave_fault(run, a->user ? a_address : b_address);
}

/* A search looks at this many bytes word by word at first, since much is found there. */
#define COSY_SHORT 40

#define COSY_NOT_FOUND (~0ull)
#define COSY_FAULTED   (~1ull)

/*
 * Returns the index of the first of `length` bytes at `at` that has `pattern`'s value or, with
 * `zero`, is 0; else COSY_NOT_FOUND or COSY_FAULTED.  *found is that byte.  Reads whole aligned
 * words.
 */
static __always_inline u64 cosy_scan(const u8 *at, u64 length, u64 pattern, bool zero, u8 *found)
{
	u64 skew = (unsigned long)at % COSY_WORD, word, hit, i, stride = COSY_SHORT, strides;
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
		/*
		 * After the first few words, skip many as long as there is nothing, then go word by
		 * word to what there is.
		 */
		if (i + COSY_STRIDE <= length && i >= stride) {
			strides = (length - i) / COSY_STRIDE;
			strides =
				zero ? cosy_skip_strides_to_end(base + i, strides, pattern, &fault)
				     : cosy_skip_strides(base + i, strides, pattern, &fault);
			i += COSY_STRIDE * strides;
			stride = i + COSY_STRIDE;
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
		return COSY_FAULTED;
	if (!hit)
		return COSY_NOT_FOUND;
	if (zero)
		*found = word >> (__ffs(hit) & ~7u);
	i += cosy_first_byte(hit);
	return i < length ? i - skew : COSY_NOT_FOUND;
}

/*
 * Goes on with a search after `now` bytes from `*from` on, in which the scan has found nothing but
 * perhaps a fault (`index`).  False: it ends.
 */
static __always_inline bool cosy_search_goes_on(struct cosy_activation *run, u64 *from, u64 *length,
						u64 now, u64 index)
{
	if (index == COSY_FAULTED) {
		cosy_leave_fault(run, *from);
		return false;
	}
	*from += now;
	*length -= now;
	return cosy_spend(run, now);
}

#endif /* COSY_MEMORY_H */
