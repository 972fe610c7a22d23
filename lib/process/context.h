/* SPDX-License-Identifier: MIT */
/*
 * context.h - the process's one descriptor of /dev/cosy and its shared buffer.
 *
 * Opened at the first need.  A context belongs to one address space, so it has a
 * generation number: a fork child reads 0, sees that no program of its parent's
 * generation is loaded any more, and opens its own.
 */
#ifndef COSY_LIB_CONTEXT_H
#define COSY_LIB_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <linux/cosy.h>

#include "process/life.h"
#include "syscall.h"

/* The module keeps a history, by its answer; it has none, or none for us. */
extern bool libcosy_history_works, libcosy_history_lacks;

/* Everything runs natively for good: there is no device, or not for us, or it is switched off. */
extern bool libcosy_native_only;

/*
 * Opens the context if need be.  Returns its generation, never 0, or 0 when the native
 * twin should run.  In interpreter mode it has a generation but no descriptor.
 * Locks; not async-signal-safe, but returns 0 rather than deadlock in a handler.
 */
uint32_t libcosy_context_open(void);

enum libcosy_admission {
	COSY_STAYS_OUT,
	COSY_ENTERS_IF_SEEN, /* if the kernel need not compile its compound */
	COSY_ENTERS_LATER,   /* likewise, and otherwise has it compiled in the background */
	COSY_ENTERS,
};

struct cosy_compound;
struct cosy_region;

/* A region that needs a context. */
struct libcosy_applicant {
	struct cosy_region *region;
	const struct cosy_compound *compound;
	uint32_t ctx_size; /* bytes of its block in the buffer */
	/* Decides by fd, a descriptor of the device that is to become the context. */
	enum libcosy_admission (*admit)(struct cosy_region *region, int fd);
};

/*
 * Does the same, but if there is none yet only where the applicant is admitted, and, if nothing may
 * be compiled for it, where the user has loaded its compound lately.
 */
uint32_t libcosy_context_open_for(const struct libcosy_applicant *applicant);

/*
 * Asks the device whether the kernel would have to compile this compound for the buffer that there is,
 * or would be for this applicant (may be NULL).  `flags`: 0 or COSY_LOAD_BACKGROUND.
 */
bool libcosy_context_has_seen(int fd, const struct cosy_compound *compound,
			      const struct libcosy_applicant *applicant, uint32_t flags);

/* Contexts opened so far, here or before a fork; a front that grew counts none. */
extern uint32_t libcosy_context_openings;

/*
 * Numbers the process's contexts in turn: the number changes when one is lost, as it is in a fork
 * child, not when one is opened.
 */
static inline uint32_t libcosy_context_life(void)
{
	/* So that opening a context does not change it, and losing one does. */
	return __atomic_load_n(&libcosy_context_openings, __ATOMIC_RELAXED) -
	       !!libcosy_generation();
}

extern int libcosy_the_fd;

/* The descriptor, or -1. */
static inline int libcosy_context_fd(void)
{
	return __atomic_load_n(&libcosy_the_fd, __ATOMIC_RELAXED);
}

/* Makes an ioctl on the context.  Returns the result or a negative errno. */
static inline long libcosy_context_ioctl(unsigned long request, void *arg)
{
	return cosy_syscall3(SYS_ioctl, (unsigned int)libcosy_context_fd(), request,
			     (unsigned long)arg);
}

/*
 * Notes that RUN or LOAD found the context of that generation gone (EBADF, ENOTTY, EXDEV,
 * ENOENT): the next libcosy_context_open opens a new one.
 */
void libcosy_context_lost(uint32_t generation);

/*
 * Notes that the program unmapped or changed the shared buffer: libcosy touches it no more, and
 * everything runs natively from here.
 */
void libcosy_context_buffer_gone(void);

/*
 * What a program without a context would have kept in the shared buffer: the bytes of its largest
 * frame, and whether it has asked for memory of the heap.  A buffer for more than small frames and
 * contexts begins with a larger front.
 */
extern uint64_t libcosy_largest_frame;
extern bool libcosy_heap_wanted;

static inline void libcosy_note_frame(uint64_t size)
{
	uint64_t largest = __atomic_load_n(&libcosy_largest_frame, __ATOMIC_RELAXED);

	while (size > largest &&
	       !__atomic_compare_exchange_n(&libcosy_largest_frame, &largest, size, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static inline void libcosy_note_heap(void)
{
	__atomic_store_n(&libcosy_heap_wanted, true, __ATOMIC_RELAXED);
}

/* Returns the shared buffer and its length; length 0 without one. */
void *libcosy_context_buffer(uint64_t *len);

/*
 * Returns how many bytes from `at`, in the shared buffer, are in its front, which compounds reach
 * directly; 0 or less: none, so compounds reach `at` as they do any other memory.
 */
int64_t libcosy_front_from(const void *at);
/*
 * Grows the front up to `end`; programs are then loaded again when they next run.  False when it
 * cannot grow, which costs only time.  Locks as libcosy_context_open does.
 */
bool libcosy_front_cover(const void *end);

/* Allocates from the shared buffer's heap, in the front if that can grow. */
void *libcosy_shared_alloc(size_t size);

/* Adds the kernel's counts of the context, if there is one, to those of the process. */
void libcosy_context_count(void);

/* Returns, for people, why the kernel is not used; "" while it is. */
const char *libcosy_context_reason(void);

/*
 * True if filters let this thread set up what a region needs once: the thread's state, a
 * program, its stack.  The native twin runs where they do not.  Asked again each time, since they
 * may have been armed meanwhile; not needed right after libcosy_context_open has opened one.
 */
bool libcosy_context_lets(void);

/* Called around a fork: see fork.h. */
bool libcosy_context_lock(void);
void libcosy_context_unlock(void);
void libcosy_context_child(void);

#endif /* COSY_LIB_CONTEXT_H */
