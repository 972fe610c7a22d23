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

#pragma GCC visibility push(hidden)

/* Copies; to be called between fault_arm and fault_forbid only.  False: not all of it. */
bool fault_copy(void *to, const void *from, size_t len);

/* Makes copies safe.  False: the program has SIGBUS for itself. */
bool fault_arm(void);

/* True if the library handles SIGBUS now, and the program has not asked for it. */
bool fault_armed(void);

/* Called before a SIGBUS that is not this library's ends the process; NULL: nothing is. */
extern void (*fault_before_death)(void);

/* Gives SIGBUS up for good, since the program wants it for itself; mapped windows have to end. */
void fault_forbid(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_FAULT_H */
