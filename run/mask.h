/* SPDX-License-Identifier: MIT */
/* mask.h - blocks all signals of a thread for a moment, by the kernel's own call. */
#ifndef COSY_RUN_MASK_H
#define COSY_RUN_MASK_H

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "syscall.h"

/* Returns the mask as it was. */
static inline uint64_t mask_block_all(void)
{
	uint64_t all = ~0ULL, old;

	cosy_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (unsigned long)&all, (unsigned long)&old,
		      sizeof(all), 0, 0);
	return old;
}

static inline void mask_set(uint64_t signals)
{
	cosy_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (unsigned long)&signals, 0, sizeof(signals),
		      0, 0);
}

#endif /* COSY_RUN_MASK_H */
