/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - per-thread stacks of blocks in the shared buffer: contexts of
 * activations, and locals that cosycc moved there.
 *
 * Blocks end in reverse order, except that a longjmp abandons some without a word.  So each
 * block remembers the native stack pointer and return address it was made at: it is dead
 * once its thread makes another block at a higher stack pointer, or at the same one from the
 * same place.  That holds only where both lie on the thread's own stack; blocks made on signal
 * stacks and in coroutines are left alone.  A block that ends out of order, or by another
 * thread, is marked, and goes when it is on top.
 *
 * Making and ending blocks is async-signal-safe: `used` moves before a block is
 * written, and a block leaves the stack before its bytes are free.
 */
#ifndef COSY_LIB_STACKS_H
#define COSY_LIB_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "../../core/core.h"

struct libcosy_slice {
	uint8_t *base;
	uint64_t whole; /* bytes; 0: no such slice */
	uint64_t size;	/* usable now: those that the front covers */
	uint64_t used;	/* bytes taken, those of a block being made included */
	struct libcosy_block *top;
};

/* Sets `size`: how much of the slice may be used now. */
void libcosy_slice_measure(struct libcosy_slice *slice);

/* Header of each block, below the memory handed out. */
struct libcosy_block {
	struct libcosy_block *below;
	struct libcosy_slice *owner;
	uintptr_t sp;			/* native stack pointer of the caller */
	uintptr_t site;			/* its return address */
	uint64_t start, end;		/* offsets in the slice, header included */
	struct libcosy_activation *act; /* of a ctx: whose, until that has ended */
	uint32_t ended;
};

/*
 * One run of a compound, as the kernel and the interpreter share it.  Lies in the thread's own
 * memory, so that it outlives a shared buffer that the program unmaps.
 */
struct libcosy_activation {
	/*
	 * The one that a signal handler's region interrupted, or, while this one is free, the next
	 * free one
	 */
	struct libcosy_activation *outer;
	void *ctx;	     /* its block, in the shared buffer if there was room */
	uint32_t generation; /* of the context that run.handle is in, */
	int fd;		     /* and its descriptor */
	struct cosy_run run; /* state is set for good; handle 0: interpreter */
	struct cosy_state state;
};

/* Maximum number of activations of one thread: regions in signal handlers nest. */
#define COSY_ACTIVATIONS 32

/* The place on the native stack from which a block is asked for. */
struct libcosy_site {
	uintptr_t sp, site;
};
#define COSY_SITE()                                                                                \
	((struct libcosy_site){(uintptr_t)__builtin_frame_address(0),                              \
			       (uintptr_t)__builtin_return_address(0)})

struct libcosy_thread;

/* Makes an activation with a ctx of `size` bytes; NULL when there is no room. */
struct libcosy_activation *libcosy_activation_push(struct libcosy_thread *thread, uint64_t size,
						   struct libcosy_site site);
/* Returns a ctx's activation, which ends with libcosy_block_pop(ctx). */
struct libcosy_activation *libcosy_activation_of(void *ctx);

/* 16-byte aligned memory of the shared buffer, contents undefined; or NULL. */
void *libcosy_block_push(struct libcosy_thread *thread, uint64_t size, struct libcosy_site site);
/* Ends a block, its activation, and dead blocks above it.  Any thread may call it. */
void libcosy_block_pop(void *memory);

#endif /* COSY_LIB_STACKS_H */
