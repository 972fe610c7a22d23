/* SPDX-License-Identifier: MIT */
/*
 * fault.h - copies from a mapped file, in which a missing page raises SIGBUS where read would
 * return EIO: the disk failed, or the file has become shorter (which a lease prevents, until the
 * kernel takes it from a process that did not return it).
 */
#ifndef COSY_RUN_FAULT_H
#define COSY_RUN_FAULT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Copies; to be called between fault_arm and fault_forbid only.  False: not all of it. */
bool fault_copy(void *to, const void *from, size_t len);

/* Makes copies safe.  False: the program has SIGBUS for itself. */
bool fault_arm(void);

/* True if the library handles SIGBUS now, and the program has not asked for it. */
bool fault_armed(void);

/* Returns a signal mask without SIGBUS while it is armed: blocked, it would kill. */
uint64_t fault_signals(uint64_t signals);

/* Ends mapped windows, since the program wants SIGBUS for itself. */
void fault_forbid(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_FAULT_H */
