/* SPDX-License-Identifier: MIT */
/*
 * libc_calls.h - calls that libc's function makes in another way than by the call of its name.
 *
 * A filter, tracer or auditor that watches a thread's calls is to see those of a native program:
 * libc's open is openat, its fstat newfstatat, its statx uses newfstatat if a filter returns
 * ENOSYS, and the vDSO returns the time without a call.
 */
#ifndef COSY_LIB_LIBC_CALLS_H
#define COSY_LIB_LIBC_CALLS_H

#include <stdbool.h>

#include "region/program.h"

/*
 * Has libc make the call `number` of r[1] up, sixth argument in r[0].  The result, or a negative
 * errno, goes to r[0]; errno is untouched.  False: libc makes it by its number, and nothing is
 * done.  A cancellation point where libc's function is one.
 */
bool libcosy_libc_call(u32 number, u64 *r);

#endif /* COSY_LIB_LIBC_CALLS_H */
