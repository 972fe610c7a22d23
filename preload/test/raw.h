/* SPDX-License-Identifier: MIT */
/* raw.h - makes the kernel's own calls, past any library, and reproducible chance. */
#ifndef COSY_PRELOAD_TEST_RAW_H
#define COSY_PRELOAD_TEST_RAW_H

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RAW(name, ...) syscall(SYS_##name, __VA_ARGS__)

/* Each thread has one state, for all files of a program. */
__attribute__((weak)) _Thread_local uint64_t chance_state = 88172645463325252ULL;

static inline unsigned int chance(unsigned int below)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (chance_state >> 11) % below;
}

#endif /* COSY_PRELOAD_TEST_RAW_H */
