// SPDX-License-Identifier: MIT
/* lock.c - see lock.h. */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "lock.h"
#include "process/life.h"
#include "syscall.h"

/*
 * An owner is the address of a variable of its thread's, below the life of its address space
 * (life.h).  A raw clone's child has another life, and of its parent's threads only the one that
 * made it.
 */
#define WAITERS	     UINT64_C(1)
#define LIFE_SHIFT   48
#define ADDRESS_MASK ((UINT64_C(1) << LIFE_SHIFT) - 1)

static _Thread_local uint64_t owner_mark __attribute__((tls_model("initial-exec")));

/*
 * Asks anew for this life, which may have been given since the caller began.  A lock that was taken
 * before there were lives may be any thread's: it is waited for.
 */
static bool lock_is_left(uint64_t word)
{
	const uint64_t life = libcosy_life(), of_word = word >> LIFE_SHIFT;

	return life && of_word && of_word != life;
}

/* Sleeps until the lock is let go of; the kernel compares the half that holds the waiters' bit. */
static void lock_wait(struct libcosy_lock *lock, uint64_t seen)
{
	cosy_syscall6(SYS_futex, (unsigned long)&lock->word, FUTEX_WAIT_PRIVATE, (uint32_t)seen, 0,
		      0, 0);
}

bool libcosy_lock(struct libcosy_lock *lock)
{
	const uint64_t self = (uintptr_t)&owner_mark | (uint64_t)libcosy_life() << LIFE_SHIFT;
	uint64_t mine = self, seen = 0;

	while (!__atomic_compare_exchange_n(&lock->word, &seen, mine, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (((seen ^ self) & ADDRESS_MASK & ~WAITERS) == 0)
			return false;
		/* `seen` stays, so that the next exchange takes it over. */
		if (lock_is_left(seen))
			continue;
		if (!(seen & WAITERS) &&
		    !__atomic_compare_exchange_n(&lock->word, &seen, seen | WAITERS, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			seen = 0;
			continue;
		}
		lock_wait(lock, seen | WAITERS);
		/* Others may still wait, so an owner that has waited wakes one more. */
		mine = self | WAITERS;
		seen = 0;
	}
	return true;
}

void libcosy_unlock(struct libcosy_lock *lock)
{
	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) & WAITERS)
		cosy_syscall6(SYS_futex, (unsigned long)&lock->word, FUTEX_WAKE_PRIVATE, 1, 0, 0,
			      0);
}
