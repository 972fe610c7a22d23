/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - changes in one step.  With one thread only a signal handler can come between,
 * and one instruction is enough against that; the lock prefix costs as much as the rest
 * of a one-byte read.
 */
#ifndef COSY_PRELOAD_ATOMIC_H
#define COSY_PRELOAD_ATOMIC_H

#include <stdbool.h>

#include "alone.h"

/* *at becomes `new_value` if it is `old_value`.  Was it? */
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

/* Adds `more` to *at, an int; the sum. */
#define ATOMIC_ADD(at, more)                                                                       \
	({                                                                                         \
		int sum_ = (more);                                                                 \
                                                                                                   \
		if (!ATOMIC_ALONE_ADD(at, sum_))                                                   \
			sum_ = __atomic_fetch_add(at, sum_, __ATOMIC_SEQ_CST);                     \
		sum_ + (more);                                                                     \
	})

/* The same without the lock, where that is enough; else they do nothing and are false. */
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

#endif /* COSY_PRELOAD_ATOMIC_H */
