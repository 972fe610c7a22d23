/* SPDX-License-Identifier: MIT */
/* arming.h - checks whether this program could arm a seccomp filter. */
#ifndef COSY_LIB_ARMING_H
#define COSY_LIB_ARMING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if the program could arm a seccomp filter: through libc that takes prctl or syscall,
 * so an object that is loaded has to refer to one of them.  *seen: see libcosy_any_refers_to.
 */
bool libcosy_could_arm(uint64_t *seen);

/* Does the same in a constructor; remembers the objects that were there for libcosy_could_arm. */
bool libcosy_could_arm_at_start(void);

/* Tells the same of a program that libc is part of.  NULL where cosycc has not linked it in. */
bool libcosy_static_arms(void) __attribute__((weak, visibility("hidden")));

#endif /* COSY_LIB_ARMING_H */
