/* SPDX-License-Identifier: GPL-2.0 */
/* copy.h - copies between pages, both in the kernel's own mapping. */
#ifndef COSY_COPY_H
#define COSY_COPY_H

#include <linux/string.h>
#include <linux/types.h>
#include "memory/access.h"

/*
 * Does memcpy of pages' worth of bytes, by the string instruction with which the kernel copies to
 * and from user mode.  memcpy is a loop on processors without FSRM.
 */
static inline void cosy_copy(void *to, const void *from, size_t size)
{
	size_t words = size / sizeof(u64);

	cosy_note_write(to, size);
	cosy_note_read(from, size);
	asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
	if (size % sizeof(u64))
		memcpy(to, from, size % sizeof(u64));
}

#endif /* COSY_COPY_H */
