/* SPDX-License-Identifier: MIT */
/*
 * filter.h - tells whether a seccomp filter watches the process, which may end it for a call that the
 * program itself never makes.
 *
 * Filters that the program installs are seen by the wrappers of prctl(2) and syscall(2).  These are
 * about filters that the process was started with.
 */
#ifndef COSY_RUN_FILTER_H
#define COSY_RUN_FILTER_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/*
 * Asks by openat, read and close, which ld.so has just made under such a filter.  prctl(2) is not one
 * of these.  True if it cannot be found out.
 */
bool filter_in_status(void);

/* Asks in this way once, and from then on by prctl(2) where no filter was found. */
bool filter_is_there(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_FILTER_H */
