/* SPDX-License-Identifier: MIT */
/*
 * relaxed.h - shared by the kinds of relaxing: late errors, permissions, and the record of which
 * descriptors were compared with relaxed files.  A process that relaxes has one thread (relax.h).
 */
#ifndef COSY_RUN_RELAXED_H
#define COSY_RUN_RELAXED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "file/file.h"

#pragma GCC visibility push(hidden)

/* Blocks every signal.  Returns the previous mask, for relaxed_restore_signals. */
uint64_t relaxed_block_signals(void);
void relaxed_restore_signals(uint64_t signals);

/*
 * Keeps the error, a negative errno, of an operation on `fd` that was delayed after its call had
 * succeeded.  The next write, fsync or close of `fd` reports it.  The first of several errors
 * stays.
 */
void relaxed_late_error(int fd, long error);

/* Returns that error as a positive errno, or 0 if there is none, and clears it. */
int relaxed_take_error(int fd);

/*
 * For each descriptor: the value of relaxed_changes when its file was last compared with the
 * relaxed files, shifted left by 1.  The lowest bit is set if the file is not a regular one.  0:
 * never.
 */
extern uint32_t relaxed_compared[FILES];
extern uint32_t relaxed_changes;

/* Invalidates relaxed_compared: each descriptor is compared again at its next use. */
static inline void relaxed_renew(void)
{
	relaxed_changes++;
}

/* Notes that a file was relaxed, so that each descriptor has to be compared with it. */
void relaxed_changed(void);

/* The function that settles everything; set before the first file is relaxed. */
extern void (*relaxed_settle_all)(void);

/* True when exit has settled everything; no file may be relaxed any more. */
extern bool relaxed_over;

/* Returns the RELAX_ bits (policy.h) of the kinds that are possible now for some file. */
unsigned int relaxed_now(void);

/* True if any of the RELAX_ bits `what` is asked for and possible now for the file of `fd`. */
bool relaxed_allows(int fd, unsigned int what);

/* True if the file of `fd`, on device `dev`, is on a file system that supports leases. */
bool relaxed_local(int fd, dev_t dev);

#pragma GCC visibility pop

#endif /* COSY_RUN_RELAXED_H */
