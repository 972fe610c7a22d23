/* SPDX-License-Identifier: MIT */
/*
 * likely.h - keeps rare code out of the way.  After a system call little of a program is
 * left in the caches, so each line of code or data costs a short call about a thousandth.
 */
#ifndef COSY_RUN_LIKELY_H
#define COSY_RUN_LIKELY_H

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Marks a function that is called rarely and should not make its caller larger. */
#define COLD __attribute__((noinline, cold))

#endif /* COSY_RUN_LIKELY_H */
