/* SPDX-License-Identifier: MIT */
/* relaxed.h - what the kinds of relaxing share: late errors, what is allowed, what was compared. */
#ifndef COSY_RUN_RELAXED_H
#define COSY_RUN_RELAXED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "file/file.h"

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

/*
 * The value of relaxed_changes when each descriptor was last compared, shifted left; the lowest bit
 * is set if its file is not a regular one.
 */
extern uint32_t relaxed_compared[FILES];
extern uint32_t relaxed_changes;

/* Has every descriptor be compared again. */
static inline void relaxed_renew(void)
{
	relaxed_changes++;
}

/* Notes that a file is newly relaxed, with which other descriptors have not been compared. */
void relaxed_changed(void);

/* Settles everything; set before the first file is relaxed. */
extern void (*relaxed_settle_all)(void);

/* True when exit has settled everything, and nothing settles after it. */
extern bool relaxed_over;

/* Returns the kinds of relaxing, of policy.h, that are possible now, for some file. */
unsigned int relaxed_now(void);

/* True if `what`, of policy.h, is asked for and possible now, for this open file. */
bool relaxed_allows(int fd, unsigned int what);

/* True if the open file, on device `dev`, is of a file system where leases mean something. */
bool relaxed_local(int fd, dev_t dev);

#pragma GCC visibility pop

#endif /* COSY_RUN_RELAXED_H */
