/* SPDX-License-Identifier: MIT */
/*
 * coalesce.h - small writes to one file that are handed to the kernel together.
 *
 * At most one file is coalesced at a time, and what was coalesced is handed over before
 * anything that another process could learn something by.  So the order of what
 * others see of this process is kept, and of a process that is killed no more is missing
 * than the last bytes of one file.
 *
 * While bytes are coalesced this process holds a *write* lease on the file, which the
 * kernel grants when nobody else has it open; whoever opens it is kept waiting until
 * the bytes are there.
 *
 * `word` is changed by one instruction:
 *
 *	63 .. 32    31    30     19 .. 0
 *	generation  BUSY  REFLINK  bytes that are coalesced
 *
 * BUSY: a write is copying its bytes after those.  A signal handler that finds it has
 * interrupted that write; it hands over what was there before, which changes the
 * generation, and the write begins again when the handler returns.  REFLINK: blocks of another
 * file are to be shared (reflink.h), and there are no bytes.
 */
#ifndef COSY_PRELOAD_COALESCE_H
#define COSY_PRELOAD_COALESCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

#define COALESCE_BUSY	    (1ULL << 31)
#define COALESCE_REFLINK    (1ULL << 30)
#define COALESCE_LEN	    ((1ULL << 20) - 1)
#define COALESCE_GENERATION (1ULL << 32)

/* The lower half is zero when there is nothing to hand over; the stubs look at it. */
extern uint64_t coalesce_word;

static inline bool coalesce_pending(void)
{
	return (uint32_t)__atomic_load_n(&coalesce_word, __ATOMIC_RELAXED) != 0;
}

/* `fd` was opened for writing and may be coalesced. */
void coalesce_candidate(int fd);

/* Is it one still? */
bool coalesce_may(int fd);

/* Is it the one that is coalesced? */
bool coalesce_has(int fd);
bool coalesce_same(const struct stat *st);

/* write(2) to a candidate. */
ssize_t coalesce_write(int fd, const void *buf, size_t len);

/*
 * Begins to coalesce `fd`, if the policy allows `what` for it and the lease is granted; leaves the
 * file before.
 */
bool coalesce_begin(int fd, unsigned int what);

/* Hands over what is coalesced; an error is kept: relaxed_late_error. */
void coalesce_flush(void);

/* And gives the lease back: nothing is coalesced until that has been earned again. */
void coalesce_end(void);

/* `fd` is no candidate any more, or none is. */
void coalesce_forget(int fd);
void coalesce_forget_all(void);

/* The lease's signal has come. */
void coalesce_lease_broken(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_COALESCE_H */
