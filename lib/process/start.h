/* SPDX-License-Identifier: MIT */
/* start.h - what libcosy asks when a program starts. */
#ifndef COSY_LIB_START_H
#define COSY_LIB_START_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Tells whether the program could arm a seccomp filter: through libc that takes prctl or syscall,
 * so an object that is loaded has to refer to one of them.  *seen: see libcosy_any_refers_to.
 */
bool libcosy_could_arm(uint64_t *seen);

#endif /* COSY_LIB_START_H */
