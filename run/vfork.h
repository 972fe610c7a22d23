/* SPDX-License-Identifier: MIT */
/* vfork.h - knows whose memory this is: the child of a vfork runs in its parent's. */
#ifndef COSY_RUN_VFORK_H
#define COSY_RUN_VFORK_H

#include <stdbool.h>
#include <sys/types.h>

#include "likely.h"

#pragma GCC visibility push(hidden)

/* This process, or 0; a child that the library has not seen begin still has its parent's. */
extern pid_t vfork_process;

/* The process that called vfork and may still be waiting for its child, or 0. */
extern pid_t vfork_parent;

COLD bool vfork_in_child_slow(void);

/* True in the child of a vfork before its exec: then all memory is its parent's. */
static inline bool vfork_in_child(void)
{
	return unlikely(vfork_parent) && vfork_in_child_slow();
}

#pragma GCC visibility pop

#endif /* COSY_RUN_VFORK_H */
