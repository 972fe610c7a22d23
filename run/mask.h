/* SPDX-License-Identifier: MIT */
/* mask.h - blocks all signals of a thread for a moment, by the kernel's own call. */
#ifndef COSY_RUN_MASK_H
#define COSY_RUN_MASK_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "syscall.h"

#pragma GCC visibility push(hidden)

/*
 * Signals, a bit each, that this library handles, so that they must not stay blocked: SIGBUS of
 * mapped windows, which would kill, and the signal of leases under --relax.
 */
extern uint64_t mask_handled;

/* Returns the mask as it was. */
static inline uint64_t mask_block_all(void)
{
	uint64_t all = ~0ULL, old;

	cosy_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (unsigned long)&all, (unsigned long)&old,
		      sizeof(all), 0, 0);
	return old;
}

static inline void mask_set(uint64_t signals)
{
	cosy_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (unsigned long)&signals, 0, sizeof(signals),
		      0, 0);
}

/*
 * Unblocks the signals that mask_block_all found unblocked, and those that have got handlers since.
 */
static inline void mask_restore(uint64_t signals)
{
	mask_set(signals & ~__atomic_load_n(&mask_handled, __ATOMIC_RELAXED));
}

static inline uint64_t mask_bit(int signal)
{
	return 1ULL << (signal - 1);
}

/* Note that this library has a handler of the signal; that it has none any more. */
static inline void mask_handle(int signal)
{
	__atomic_fetch_or(&mask_handled, mask_bit(signal), __ATOMIC_RELAXED);
}

static inline void mask_forget(int signal)
{
	__atomic_fetch_and(&mask_handled, ~mask_bit(signal), __ATOMIC_RELAXED);
}

#pragma GCC visibility pop

#endif /* COSY_RUN_MASK_H */
