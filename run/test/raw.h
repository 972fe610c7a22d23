/* SPDX-License-Identifier: MIT */
/* raw.h - makes the kernel's own calls, past any library, and reproducible chance. */
#ifndef COSY_RUN_TEST_RAW_H
#define COSY_RUN_TEST_RAW_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscall.h"

#define RAW(name, ...) raw_call(SYS_##name, __VA_ARGS__)

/* Makes a call by an instruction: syscall(2) is one of the functions that are wrapped. */
__attribute__((unused)) static long raw_call(long number, ...)
{
	unsigned long a[6];
	va_list args;
	long ret;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, unsigned long);
	va_end(args);
	ret = cosy_syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (ret >= 0 || ret < -4095)
		return ret;
	errno = (int)-ret;
	return -1;
}

/* Each thread has one state, for all files of a program. */
__attribute__((weak)) _Thread_local uint64_t chance_state = 88172645463325252ULL;

static inline unsigned int chance(unsigned int below)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (chance_state >> 11) % below;
}

#endif /* COSY_RUN_TEST_RAW_H */
