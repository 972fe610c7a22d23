/* SPDX-License-Identifier: MIT */
/* relaxed.h - what trunc.c and coalesce.c share; see relax.h for the whole. */
#ifndef COSY_PRELOAD_RELAXED_H
#define COSY_PRELOAD_RELAXED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Every signal; the mask as it was. */
uint64_t relaxed_block_signals(void);
void relaxed_restore_signals(uint64_t signals);

/*
 * Keeps the kernel's answer, a negative errno, to something that `fd`'s user believes done.
 * The next write, fsync or close of `fd` reports it.
 */
void relaxed_late_error(int fd, long error);

/* Takes it: an errno, or 0. */
int relaxed_take_error(int fd);

/* Something is relaxed that descriptors have not been compared with. */
void relaxed_changed(void);

/* Is `what`, of policy.h, asked for and possible now, for this open file? */
bool relaxed_allows(int fd, unsigned int what);

/* Is the open file, which is on device `dev`, one of a file system that is known well? */
bool relaxed_local(int fd, dev_t dev);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_RELAXED_H */
