// SPDX-License-Identifier: MIT
/* lock.c - see lock.h. */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "lock.h"
#include "syscall.h"

#define WAITERS 0x80000000u

/* Time to wait before asking whether the owner is alive. */
static const struct timespec owner_timeout = {.tv_nsec = 100000000};

static bool lock_owner_lives(uint32_t tid)
{
	return cosy_syscall3(SYS_tgkill, cosy_syscall3(SYS_getpid, 0, 0, 0), tid, 0) != -ESRCH;
}

bool libcosy_lock(struct libcosy_lock *lock)
{
	uint32_t self = cosy_syscall3(SYS_gettid, 0, 0, 0), mine = self, seen = 0;

	while (!__atomic_compare_exchange_n(&lock->word, &seen, mine, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if ((seen & ~WAITERS) == self)
			return false;
		if (!(seen & WAITERS) &&
		    !__atomic_compare_exchange_n(&lock->word, &seen, seen | WAITERS, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			seen = 0;
			continue;
		}
		seen |= WAITERS;
		if (cosy_syscall6(SYS_futex, (unsigned long)&lock->word, FUTEX_WAIT_PRIVATE, seen,
				  (unsigned long)&owner_timeout, 0, 0) == -ETIMEDOUT &&
		    !lock_owner_lives(seen & ~WAITERS))
			__atomic_compare_exchange_n(&lock->word, &seen, 0, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
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
