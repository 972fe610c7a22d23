/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - changes memory in one step.  With one thread only a signal handler can come
 * between, and a single instruction is enough against that: the lock prefix would cost as much
 * as the rest of a one-byte read.
 */
#ifndef COSY_RUN_ATOMIC_H
#define COSY_RUN_ATOMIC_H

#include <stdbool.h>

#include "alone.h"

/* Puts `new_value` into *at if that is `old_value`.  True if it was. */
#define ATOMIC_EXCHANGE(at, old_value, new_value)                                                  \
	({                                                                                         \
		__typeof__(*(at)) old_ = (old_value), new_ = (new_value);                          \
		bool same_;                                                                        \
                                                                                                   \
		if (!ATOMIC_ALONE_EXCHANGE(at, old_, new_, same_))                                 \
			same_ = __atomic_compare_exchange_n(at, &old_, new_, false,                \
							    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
		same_;                                                                             \
	})

/* Adds `more` to *at, an int; returns the sum. */
#define ATOMIC_ADD(at, more)                                                                       \
	({                                                                                         \
		int sum_ = (more);                                                                 \
                                                                                                   \
		if (!ATOMIC_ALONE_ADD(at, sum_))                                                   \
			sum_ = __atomic_fetch_add(at, sum_, __ATOMIC_SEQ_CST);                     \
		sum_ + (more);                                                                     \
	})

/* Do the same without the lock prefix where that is enough; elsewhere do nothing and are false. */
#ifdef __x86_64__
#define ATOMIC_ALONE_EXCHANGE(at, old, new, same)                                                  \
	(likely(alone()) ? ({                                                                      \
		__asm__ volatile("cmpxchg %3, %1"                                                  \
				 : "=@ccz"(same), "+m"(*(at)), "+a"(old)                           \
				 : "r"(new)                                                        \
				 : "memory");                                                      \
		true;                                                                              \
	})                                                                                         \
			 : false)
#define ATOMIC_ALONE_ADD(at, sum)                                                                  \
	(likely(alone()) ? ({                                                                      \
		__asm__ volatile("xadd %0, %1" : "+r"(sum), "+m"(*(at)) : : "memory", "cc");       \
		true;                                                                              \
	})                                                                                         \
			 : false)
#else
#define ATOMIC_ALONE_EXCHANGE(at, old, new, same) false
#define ATOMIC_ALONE_ADD(at, sum)		  false
#endif

#endif /* COSY_RUN_ATOMIC_H */
