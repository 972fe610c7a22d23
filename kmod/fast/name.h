/* SPDX-License-Identifier: GPL-2.0 */
/* name.h - one component of a path, from the user's memory.  In line: see lookup.h. */
#ifndef COSY_NAME_H
#define COSY_NAME_H

#include <linux/limits.h>
#include <linux/uaccess.h>
#include <asm/word-at-a-time.h>
#include "compat/compat.h"
#include "memory/access.h"
#include "memory/reach.h"

/*
 * Returns whether a name is one of an entry: neither empty nor too long, and neither one dot nor
 * two.
 */
static inline bool cosy_is_component(const struct qstr *name)
{
	return name->len - 1 < NAME_MAX &&
	       (likely(READ_ONCE(name->name[0]) != '.') ||
		(name->len > 1 && (name->len > 2 || READ_ONCE(name->name[1]) != '.')));
}

/*
 * Returns the length of the component at `at` if it ends with a NUL within `max` bytes; 0 for no
 * component, one that is followed by a slash, and one that is longer.
 */
static __always_inline u32 cosy_component_length(const u8 *at, u32 max)
{
	u64 word, ends, hits;
	u32 i;

	for (i = 0; i < max; i += COSY_WORD) {
		word = load_unaligned_zeropad(at + i);
		ends = cosy_zeroes(word);
		hits = ends | cosy_zeroes(word ^ '/' * COSY_ONES);
		if (hits) {
			i += cosy_first_byte(hits);
			return ends & hits & -hits && i < max ? i : 0;
		}
	}
	return 0;
}

/*
 * Gets the name at user address `address`: in place when it is in the shared buffer, else by
 * `copy`, of which `*copied` is the length, or a negative errno; 0: there is no copy.  In place it
 * may change at any time: what is found then is another name of the same directory, but that
 * nothing is found says nothing (cosy_missing_again).  False, with
 * no guard counted: it is not one component, or cannot be read.  With `several` it is likely to
 * have several, so none is looked for.
 */
static __always_inline bool cosy_name_get(struct cosy_activation *run, u64 address, bool several,
					  u8 *copy, long *copied, struct qstr *ret)
{
	const struct cosy_program *prog = run->prog;
	u64 offset = cosy_buffer_offset(prog, address);
	u32 length;

	*copied = 0;

	if (likely(cosy_buffer_has_byte(prog, offset))) {
		if (several)
			return false;
		offset = cosy_buffer_mask(prog, offset);
		ret->name = prog->buffer + offset;
		length = cosy_component_length(ret->name, min_t(u64, prog->buffer_size - offset,
								NAME_MAX + 1));
	} else {
		*copied = strncpy_from_user(copy, u64_to_user_ptr(address), NAME_MAX + 1);
		if (several || unlikely(*copied < 0))
			return false;
		ret->name = copy;
		length = cosy_component_length(copy, min_t(u32, *copied + 1, NAME_MAX + 1));
	}
	ret->len = length;
	return likely(cosy_is_component(ret));
}

#endif /* COSY_NAME_H */
