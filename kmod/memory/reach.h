/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reach.h - small ranges of a compound's memory, reached at once: in the kernel's mapping of the
 * shared buffer, or as user memory.
 */
#ifndef COSY_REACH_H
#define COSY_REACH_H

#include <linux/bitops.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include "load/program.h"
#include "run/activation.h"

/* Where a byte of the memory is reached, and how far its neighbours are reached alike. */
struct cosy_place {
	u8 *at;		  /* in the kernel's mapping of the buffer, a view's page, or user memory */
	u64 below, above; /* bytes below `at`, and from it on, that are reached alike */
	bool user;
};

/* Returns the lowest byte of which cosy_zeroes found the high bit. */
static __always_inline u32 cosy_first_byte(u64 highs)
{
	return __ffs(highs) / 8;
}

/*
 * Returns TASK_SIZE_MAX in a register: without CONFIG_X86_5LEVEL it is a 64-bit constant, which no
 * comparison takes.
 */
static __always_inline unsigned long cosy_user_end(void)
{
	unsigned long end = TASK_SIZE_MAX;

	OPTIMIZER_HIDE_VAR(end);
	return end;
}

/*
 * Returns the address of all `size` bytes at user address `address`, for stores (access.h) between
 * cosy_access_begin and cosy_access_end: in the kernel's mapping where they lie in the shared
 * buffer.  NULL if it is no user memory.
 */
static __always_inline u8 *cosy_reach(const struct cosy_activation *run, u64 address, u64 size)
{
	const struct cosy_program *prog = run->prog;
	u64 offset = cosy_buffer_offset(prog, address);

	if (cosy_buffer_has(prog, offset, size))
		return prog->buffer + cosy_buffer_mask(prog, offset);
	if (unlikely(address >= TASK_SIZE_MAX || size > TASK_SIZE_MAX - address))
		return NULL;
	return (u8 *)(address & array_index_mask_nospec(address, cosy_user_end()));
}

/*
 * Returns whether cosy_reach has returned user memory for `address`.  Compared where it is asked
 * for: a struct with a flag beside the address costs 10 instructions of a stat by name.
 */
static __always_inline bool cosy_reached_user(const u8 *at, u64 address)
{
	return (u64)at == address;
}

/*
 * Copies few bytes from, or to, the user address: of structures that an operation keeps in the
 * user's memory.  False: they cannot be reached.
 */
static inline bool cosy_memory_read(const struct cosy_activation *run, void *to, u64 from,
				    u32 bytes)
{
	const u8 *at = cosy_reach(run, from, bytes);

	if (unlikely(!at))
		return false;
	if (cosy_reached_user(at, from))
		return !copy_from_user(to, u64_to_user_ptr(from), bytes);
	memcpy(to, at, bytes);
	return true;
}

static inline bool cosy_memory_write(const struct cosy_activation *run, u64 to, const void *from,
				     u32 bytes)
{
	u8 *at = cosy_reach(run, to, bytes);

	if (unlikely(!at))
		return false;
	if (cosy_reached_user(at, to))
		return !copy_to_user(u64_to_user_ptr(to), from, bytes);
	memcpy(at, from, bytes);
	return true;
}

#endif /* COSY_REACH_H */
