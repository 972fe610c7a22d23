// SPDX-License-Identifier: MIT
/* alone.c - see alone.h. */
#include <stdbool.h>
#include <stddef.h>

#include "alone.h"
#include "next.h"

const char *alone_flag;

bool alone_slow(void)
{
	static const char several;
	const char *flag = next_variable("__libc_single_threaded");

	flag = flag ? flag : &several;
	__atomic_store_n(&alone_flag, flag, __ATOMIC_RELAXED);
	return *flag;
}
