/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - per-thread stacks of blocks in the shared buffer: contexts of
 * activations, and locals that cosycc moved there.
 *
 * Blocks end in reverse order, except that longjmp ends some without a word.  So
 * each block remembers the native stack pointer and return address it was made
 * at: a block is dead once its thread makes another one at a higher stack
 * pointer, or at the same one from the same place, as long as both lie on the
 * thread's own stack (signal stacks and coroutines are left alone).  A block
 * ended out of order, or by another thread, is marked and goes when it is on top.
 *
 * Making and ending blocks is async-signal-safe: `used` moves before a block is
 * written, and a block leaves the stack before its bytes are free.
 */
#ifndef COSY_LIB_STACKS_H
#define COSY_LIB_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "../core/core.h"

struct libcosy_slice {
	uint8_t *base;
	uint64_t whole; /* bytes; 0: no such slice */
	uint64_t size;	/* of them, what may be used: more only once the front covers it */
	uint64_t used;	/* bytes taken, those of a block being made included */
	struct libcosy_block *top;
};

/* Finds out how much of it may be used now. */
void libcosy_slice_measure(struct libcosy_slice *slice);

/* Header of each block, in front of the memory handed out. */
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
 * One run of a compound: what the kernel and the interpreter share.  In memory of
 * the thread's own, so that it outlives a shared buffer that the program unmaps.
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
	struct cosy_run run; /* size and state are set for good; handle 0: interpreter */
	struct cosy_state state;
};

/* At once in one thread: signal handlers' regions nest in those they interrupt. */
#define COSY_ACTIVATIONS 32

/* Where a block is asked for from. */
struct libcosy_site {
	uintptr_t sp, site;
};
#define COSY_SITE()                                                                                \
	((struct libcosy_site){(uintptr_t)__builtin_frame_address(0),                              \
			       (uintptr_t)__builtin_return_address(0)})

struct libcosy_thread;

/* An activation with a ctx of `size` bytes; NULL when there is no room. */
struct libcosy_activation *libcosy_activation_push(struct libcosy_thread *thread, uint64_t size,
						   struct libcosy_site site);
/* The activation that a ctx belongs to; it ends with libcosy_block_pop(ctx). */
struct libcosy_activation *libcosy_activation_of(void *ctx);

/* 16-byte aligned memory of the shared buffer, contents undefined; or NULL. */
void *libcosy_block_push(struct libcosy_thread *thread, uint64_t size, struct libcosy_site site);
/* Ends a block, its activation, and what dead blocks lie above it.  Any thread may. */
void libcosy_block_pop(void *memory);

#endif /* COSY_LIB_STACKS_H */
