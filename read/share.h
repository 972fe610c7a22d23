/* SPDX-License-Identifier: MIT */
/* share.h - other processes that share this one's descriptors or memory: NO_FP_SHARE. */
#ifndef COSY_READ_SHARE_H
#define COSY_READ_SHARE_H

#include <stdbool.h>
#include <sys/types.h>

#include "likely.h"

#pragma GCC visibility push(hidden)

/* The process that called vfork and may not have gone on yet, or 0. */
extern pid_t share_vforked;

bool share_in_vfork_child_slowly(void);

/* Is this the child of a vfork, before its exec?  Then what is in memory is its parent's. */
static inline bool share_in_vfork_child(void)
{
	return unlikely(share_vforked) && share_in_vfork_child_slowly();
}

#pragma GCC visibility pop

#endif /* COSY_READ_SHARE_H */
