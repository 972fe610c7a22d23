/* SPDX-License-Identifier: MIT */
/* start.h - libcosy's checks when a program starts. */
#ifndef COSY_LIB_START_H
#define COSY_LIB_START_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Puts a variable that is 0 at first, and that the first arrival at a region looks at, beside the
 * region's own counts.  After the program's variables it might be alone in its page, which the
 * kernel would have to clear and map.
 */
#define LIBCOSY_EARLY_DATA __attribute__((section(".data")))

/*
 * True if the program could arm a seccomp filter: through libc that takes prctl or syscall,
 * so an object that is loaded has to refer to one of them.  *seen: see libcosy_any_refers_to.
 */
bool libcosy_could_arm(uint64_t *seen);

/* Tells the same of a program that libc is part of.  NULL where cosycc has not linked it in. */
bool libcosy_static_arms(void) __attribute__((weak, visibility("hidden")));

#endif /* COSY_LIB_START_H */
