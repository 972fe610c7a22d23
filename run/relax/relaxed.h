/* SPDX-License-Identifier: MIT */
/* relaxed.h - functions that trunc.c, coalesce.c and reflink.c share; relax.h tells the whole. */
#ifndef COSY_RUN_RELAXED_H
#define COSY_RUN_RELAXED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

/* Blocks every signal.  Returns the mask as it was. */
uint64_t relaxed_block_signals(void);
void relaxed_restore_signals(uint64_t signals);

/*
 * Keeps the error, a negative errno, of something that the program believes done on `fd`.
 * The next write, fsync or close of `fd` reports it.
 */
void relaxed_late_error(int fd, long error);

/* Returns that error as an errno, or 0, and forgets it. */
int relaxed_take_error(int fd);

/* Notes that a file is newly relaxed, with which other descriptors have not been compared. */
void relaxed_changed(void);

/* True if `what`, of policy.h, is asked for and possible now, for this open file. */
bool relaxed_allows(int fd, unsigned int what);

/* True if the open file, on device `dev`, is of a file system where leases mean something. */
bool relaxed_local(int fd, dev_t dev);

#pragma GCC visibility pop

#endif /* COSY_RUN_RELAXED_H */
