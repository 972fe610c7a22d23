/* SPDX-License-Identifier: MIT */
/*
 * fault.h - copying from a mapped file.  A page that cannot be had, because the disk does
 * not give it or the file has become shorter (which a lease prevents, until the kernel takes
 * it from a process that did not return it), raises SIGBUS where read would give EIO.
 */
#ifndef COSY_PRELOAD_FAULT_H
#define COSY_PRELOAD_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Copies; only between these two.  False: not all of it. */
bool fault_copy(void *to, const void *from, size_t len);

/* Makes that possible.  False: the program has SIGBUS for itself. */
bool fault_arm(void);

/* Is this a signal that the library handles now, and that the program has not asked for? */
bool fault_armed(void);

/* A signal mask without SIGBUS, while it is armed: blocked, it would kill. */
uint64_t fault_signals(uint64_t signals);

/* The program wants SIGBUS for itself: no mapped windows any more. */
void fault_forbid(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_FAULT_H */
