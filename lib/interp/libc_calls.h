/* SPDX-License-Identifier: MIT */
/*
 * libc_calls.h - calls that libc's function makes in another way than by the call of its name.
 *
 * Where somebody watches a thread's calls, a filter, a tracer or an auditor, he is to see those
 * that a native program makes: libc's open is openat, its fstat newfstatat, its statx is made of
 * newfstatat where a filter answers ENOSYS, and the vDSO tells the time without any.
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
