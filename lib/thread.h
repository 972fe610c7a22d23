/* SPDX-License-Identifier: MIT */
/*
 * thread.h - what libcosy keeps for each thread: where its activations and moved
 * locals live, its software stack, and whether it may use the kernel.
 */
#ifndef COSY_LIB_THREAD_H
#define COSY_LIB_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks.h"

struct libcosy_thread {
	struct libcosy_slice
		slice[2]; /* in the shared buffer; and, for what finds no room, elsewhere */
	uintptr_t stack_low, stack_high;    /* the thread's own native stack; 0, 0 = unknown */
	struct libcosy_activation *running; /* innermost activation in the middle of a run */
	struct libcosy_activation *free;    /* of acts, by ->outer */
	uint8_t *soft_stack;		    /* NULL until a compound needs one */
	uint64_t soft_size;		    /* bytes before its guard page */
	uint64_t interp_calls;		    /* not yet reported to RUN */
	bool filtered;	/* a seccomp filter is armed: the kernel is out for good */
	bool cancels;	/* it may be cancelled: cancel.h */
	uint32_t pause; /* activations to run natively before RUN is tried again */
	uint32_t next_pause;
	struct libcosy_thread *next, **link;
	struct libcosy_activation acts[COSY_ACTIVATIONS];
};

/* Initial-exec: an access must not allocate, since signal handlers make it. */
extern _Thread_local struct libcosy_thread *libcosy_thread_self
	__attribute__((tls_model("initial-exec")));

/*
 * The calling thread's, made at its first call (not async-signal-safe) and freed
 * when the thread exits; NULL without memory.
 */
struct libcosy_thread *libcosy_thread(void);

/*
 * A filter is armed for this thread: the kernel is out for good, for it and for
 * the threads that it may have made since and that inherit the filter.
 */
void libcosy_thread_filtered(struct libcosy_thread *thread);

/* The thread's software stack, or NULL with soft_size 0 when there is no memory. */
void libcosy_thread_soft_stack(struct libcosy_thread *thread);

/* All threads may be cancelled from here: an object that was loaded since does so. */
void libcosy_threads_cancel(void);

/* In a fork child: the other threads are gone. */
void libcosy_thread_child(void);
bool libcosy_thread_lock(void);
void libcosy_thread_unlock(void);

#endif /* COSY_LIB_THREAD_H */
