/* SPDX-License-Identifier: MIT */
/*
 * thread.h - libcosy's state of a thread: where its activations and moved locals
 * live, its software stack, and whether it may use the kernel.
 */
#ifndef COSY_LIB_THREAD_H
#define COSY_LIB_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "process/cancel.h"
#include "process/magazines.h"
#include "process/stacks.h"
#include "process/streams.h"

struct libcosy_thread {
	/* [0] in the shared buffer; [1] elsewhere, for blocks that find no room there */
	struct libcosy_slice slice[2];
	uintptr_t stack_low, stack_high;    /* the thread's own native stack; 0, 0 = unknown */
	struct libcosy_activation *running; /* innermost activation in the middle of a run */
	struct libcosy_activation *free;    /* of acts[0 .. acts_made), by ->outer */
	unsigned int acts_made;		    /* of acts, so many were in use at a time */
	uint8_t *soft_stack;		    /* NULL until a compound needs one */
	uint64_t soft_size;		    /* bytes before its guard page */
	uint64_t interp_calls;		    /* not yet reported to RUN */
	bool filtered;			    /* filters may refuse RUN: no more RUN here */
	enum libcosy_cancels cancels;	    /* it may be cancelled: cancel.h */
	uint32_t pause; /* activations to run natively before RUN is tried again */
	uint32_t next_pause;
	struct libcosy_spare_streams spare_streams;
	struct libcosy_thread *next, *next_spare;
	struct libcosy_activation acts[COSY_ACTIVATIONS];
	struct libcosy_magazines magazines; /* of blocks, for compounds */
};

/* Initial-exec, because signal handlers read it and must not allocate for it. */
extern _Thread_local struct libcosy_thread *libcosy_thread_self
	__attribute__((tls_model("initial-exec")));

/*
 * Returns the calling thread's state, made at its first call (not async-signal-safe) and given to
 * a later thread when this one exits; NULL without memory.  Filters are to be asked before
 * (libcosy_context_lets).
 */
struct libcosy_thread *libcosy_thread(void);

/*
 * Notes that seccomp filters may refuse RUN in this thread: it stays out of the kernel for good,
 * and so do threads that libcosy first meets from here on, since they may inherit the filters.
 */
void libcosy_thread_filtered(struct libcosy_thread *thread);

/* Makes the thread's software stack; NULL with soft_size 0 when there is no memory. */
void libcosy_thread_soft_stack(struct libcosy_thread *thread);

/* Marks all threads as ones that may be cancelled then, by an object that was loaded since. */
void libcosy_threads_cancel(enum libcosy_cancels cancels);

/* Forgets, in a fork child, the other threads, which it does not have. */
void libcosy_thread_child(void);
bool libcosy_thread_lock(void);
void libcosy_thread_unlock(void);

#endif /* COSY_LIB_THREAD_H */
