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

#include "syscall.h"

#define COSY_DEVICE "/dev/cosy"

/* In a page of its own that a fork wipes in the child. */
struct libcosy_alive {
	uint32_t generation; /* of the context in use; 0 = none yet, or forked */
};
extern struct libcosy_alive *libcosy_alive;

static inline uint32_t libcosy_generation(void)
{
	return __atomic_load_n(&libcosy_alive->generation, __ATOMIC_ACQUIRE);
}

/* For good: no device here, not for us, switched off.  Everything runs natively. */
extern bool libcosy_native_only;

/*
 * Opens the context if need be.  Its generation, never 0, or 0 when the native
 * twin should run.  In interpreter mode it has a generation but no descriptor.
 * Locks; not async-signal-safe, but returns 0 rather than deadlock in a handler.
 */
uint32_t libcosy_context_open(void);

/*
 * Moves a descriptor to a number so high that a program's own are the same with
 * and without libcosy, close-on-exec.  The new number, or the old one.
 */
int libcosy_move_fd(int fd);

/*
 * Which life of the process this is: another number in a fork child, and after the context
 * was lost, than before.
 */
uint32_t libcosy_context_life(void);

extern int libcosy_the_fd;

/* The descriptor, or -1. */
static inline int libcosy_context_fd(void)
{
	return __atomic_load_n(&libcosy_the_fd, __ATOMIC_RELAXED);
}

/* ioctl on the context; the result or a negative errno. */
static inline long libcosy_context_ioctl(unsigned long request, void *arg)
{
	return cosy_syscall3(SYS_ioctl, (unsigned int)libcosy_context_fd(), request,
			     (unsigned long)arg);
}

/*
 * To be called when RUN or LOAD says that the context of that generation is
 * gone (EBADF, ENOTTY, EXDEV, ENOENT): the next libcosy_context_open opens a new one.
 */
void libcosy_context_lost(uint32_t generation);

/*
 * The program unmapped or changed the shared buffer: nothing of it is touched any
 * more, and everything runs natively from here.
 */
void libcosy_context_buffer_gone(void);

/* Where the shared buffer is; length 0 without one. */
void *libcosy_context_buffer(uint64_t *len);

/*
 * Compounds reach the beginning of the shared buffer directly, its front, and the rest as any
 * other memory.  Bytes from `at`, in the buffer, that are in the front; at or below 0: none.
 */
int64_t libcosy_front_from(const void *at);
/*
 * Grows it to [.., end): programs are then loaded anew when they are next run.  False when it is
 * not had, which does no harm.  Locks as libcosy_context_open does.
 */
bool libcosy_front_cover(const void *end);

/* libcosy_heap_alloc of memory in the front, if the front can grow. */
void *libcosy_shared_alloc(size_t size);

/* Adds nothing when there is no context. */
void libcosy_context_stats(struct cosy_stats *ret);

/* Why the kernel is not used, for people; "" while it is. */
const char *libcosy_context_reason(void);

/* In a process that begins, a fork child too: what may be forbidden later. */
void libcosy_context_start(void);

/* Around fork: see fork.c. */
bool libcosy_context_lock(void);
void libcosy_context_unlock(void);
void libcosy_context_child(void);

#endif /* COSY_LIB_CONTEXT_H */
