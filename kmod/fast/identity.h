/* SPDX-License-Identifier: GPL-2.0 */
/* identity.h - calls that only tell what the kernel knows: identities and clocks. */
#ifndef COSY_IDENTITY_H
#define COSY_IDENTITY_H

#include "fast/guard.h"

/* gettid, getppid, getuid, geteuid, getgid, getegid, by number. */
s64 cosy_pure_identity(u32 number);

/* clock_gettime, gettimeofday, time.  COSY_ORDINARY for clocks and memory beyond the usual. */
s64 cosy_pure_clock(struct cosy_activation *run, u32 clock, void __user *to);
s64 cosy_pure_timeofday(struct cosy_activation *run, void __user *to, void __user *zone);
s64 cosy_pure_time(struct cosy_activation *run, void __user *to);

#endif /* COSY_IDENTITY_H */
