/* SPDX-License-Identifier: MIT */
/*
 * coalesce.h - coalesces small writes to one file, and hands them to the kernel together.
 *
 * Writes to at most one file are coalesced at a time, and handed over before any call by which
 * another process could learn something.  So others see what this process does in its order, and
 * if it is killed, only the last bytes of one file are missing.
 *
 * While bytes are coalesced this process holds a *write* lease on the file, which the
 * kernel grants when nobody else has it open; a process that opens it is kept waiting until
 * the bytes are there.
 *
 * `coalesce_word` is changed by one instruction:
 *
 *	63 .. 32    31    30     19 .. 0
 *	generation  BUSY  REFLINK  bytes that are coalesced
 *
 * BUSY: a write is copying its bytes after those.  A signal handler that finds BUSY has
 * interrupted that write.  It hands over what was coalesced before, which changes the
 * generation, and the write begins again when the handler returns.  REFLINK: blocks of another
 * file are to be shared (reflink.h), and there are no bytes.
 */
#ifndef COSY_RUN_COALESCE_H
#define COSY_RUN_COALESCE_H

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

/* Its lower half is zero if there is nothing to hand over.  The stubs (relax_calls.S) test it. */
extern uint64_t coalesce_word;

static inline bool coalesce_pending(void)
{
	return (uint32_t)__atomic_load_n(&coalesce_word, __ATOMIC_RELAXED) != 0;
}

/* Makes `fd`, opened for writing, a candidate: its writes may be coalesced. */
void coalesce_candidate(int fd);

/* True if `fd` is still a candidate. */
bool coalesce_may(int fd);

/* True if `fd`, or the file that `st` describes, is the one whose writes are coalesced. */
bool coalesce_has(int fd);
bool coalesce_same(const struct stat *st);

/* Makes a write(2) to a candidate, which has no late error to report. */
ssize_t coalesce_write(int fd, const void *buf, size_t len);

/*
 * Begins to coalesce writes to `fd`, if the policy allows `what` for it and the lease is granted;
 * first ends coalescing for another file.
 */
bool coalesce_begin(int fd, unsigned int what);

/*
 * Where bytes that are not in the buffer come from: REFLINK.  `hand_over` writes them to `to`,
 * `end` gives the source up, with nothing pending; both with signals blocked.  `is_broken`: its
 * lease is.
 */
struct coalesce_source {
	void (*hand_over)(int to);
	void (*end)(void);
	bool (*is_broken)(void);
};

/* Notes it, before COALESCE_REFLINK is set for the first time. */
void coalesce_from(const struct coalesce_source *source);

/* Hands over what is coalesced; keeps an error for later: relaxed_late_error. */
void coalesce_flush(void);

/* Also returns the lease: nothing is coalesced until writes have earned it again. */
void coalesce_end(void);

/* Make `fd`, or every descriptor, no candidate any more. */
void coalesce_forget(int fd);
void coalesce_forget_all(void);

/*
 * Makes no descriptor of the file a candidate any more, since `fd` of it has been mapped: loads
 * would not find what is coalesced, and stores would be overwritten by it.
 */
void coalesce_mapped(int fd);

/* Ends coalescing if a lease was broken; called by the lease's signal. */
void coalesce_lease_broken(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_COALESCE_H */
