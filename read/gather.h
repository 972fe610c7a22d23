/* SPDX-License-Identifier: MIT */
/*
 * gather.h - small writes to one file that are handed to the kernel together.
 *
 * At most one file is gathered at a time, and what was gathered is handed over before
 * anything that another process could learn something by.  So the order of what
 * others see of this process is kept, and of a process that is killed no more is missing
 * than the last bytes of one file.
 *
 * While bytes are gathered this process holds a *write* lease on the file, which the
 * kernel grants when nobody else has it open; whoever opens it is kept waiting until
 * the bytes are there.
 *
 * `word` is changed by one instruction:
 *
 *	63 .. 32    31    30     19 .. 0
 *	generation  BUSY  CLONE  bytes that are gathered
 *
 * BUSY: a write is copying its bytes behind those.  A signal handler that finds it has
 * interrupted that write; it hands over what was there before, which changes the
 * generation, and the write begins again when the handler returns.  CLONE: blocks of another
 * file are to be shared (clone.h), and there are no bytes.
 */
#ifndef COSY_READ_GATHER_H
#define COSY_READ_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

#define GATHER_BUSY	  (1ULL << 31)
#define GATHER_CLONE	  (1ULL << 30)
#define GATHER_LEN	  ((1ULL << 20) - 1)
#define GATHER_GENERATION (1ULL << 32)

/* The lower half is zero when there is nothing to hand over; the stubs look at it. */
extern uint64_t gather_word;

static inline bool gather_pending(void)
{
	return (uint32_t)__atomic_load_n(&gather_word, __ATOMIC_RELAXED) != 0;
}

/* `fd` was opened for writing and may be gathered. */
void gather_candidate(int fd);

/* Is it one still? */
bool gather_may(int fd);

/* Is it the one that is gathered? */
bool gather_has(int fd);
bool gather_same(const struct stat *st);

/* write(2) to a candidate. */
ssize_t gather_write(int fd, const void *buf, size_t len);

/*
 * Begins to gather `fd`, if the policy allows `what` for it and the lease is granted; leaves the
 * file before.
 */
bool gather_begin(int fd, unsigned int what);

/* Hands over what is gathered; an error is kept: relaxed_late_error. */
void gather_flush(void);

/* And gives the lease back: nothing is gathered until that has been earned again. */
void gather_end(void);

/* `fd` is no candidate any more, or none is. */
void gather_forget(int fd);
void gather_forget_all(void);

/* The lease's signal has come. */
void gather_lease_broken(void);

#pragma GCC visibility pop

#endif /* COSY_READ_GATHER_H */
