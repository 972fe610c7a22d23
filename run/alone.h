/* SPDX-License-Identifier: MIT */
/* alone.h - tells whether the process has one thread, by libc's __libc_single_threaded. */
#ifndef COSY_RUN_ALONE_H
#define COSY_RUN_ALONE_H

#include <stdbool.h>

#include "likely.h"

#pragma GCC visibility push(hidden)

/* libc's variable, or NULL. */
extern const char *alone_flag;

COLD bool alone_slow(void);

static inline bool alone(void)
{
	const char *flag = __atomic_load_n(&alone_flag, __ATOMIC_RELAXED);

	return likely(flag) ? *flag : alone_slow();
}

#pragma GCC visibility pop

#endif /* COSY_RUN_ALONE_H */
