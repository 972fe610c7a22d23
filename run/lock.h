/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a lock for a few instructions, or for a conversation with the daemon.  Its holder has
 * blocked all signals, so no handler can want what its own thread has.  A waiter sleeps: if it only
 * yielded, one of real-time priority would keep the holder from the processor.
 *
 * 0: free; 1: held; 2: held, and somebody may sleep.  ("Futexes are tricky", Drepper, mutex 2.)
 */
#ifndef COSY_RUN_LOCK_H
#define COSY_RUN_LOCK_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "atomic.h"
#include "syscall.h"

/* Sleeps while *at is `value`, or for a shorter time. */
static inline void futex_wait(const uint32_t *at, uint32_t value)
{
	cosy_syscall6(SYS_futex, (unsigned long)at, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

static inline void futex_wake(const uint32_t *at, int count)
{
	cosy_syscall3(SYS_futex, (unsigned long)at, FUTEX_WAKE_PRIVATE, count);
}

static inline void lock_take(uint32_t *lock)
{
	if (ATOMIC_EXCHANGE(lock, 0, 1))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
		futex_wait(lock, 2);
}

static inline void lock_drop(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		futex_wake(lock, 1);
}

#endif /* COSY_RUN_LOCK_H */
