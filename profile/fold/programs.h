/* SPDX-License-Identifier: MIT */
/* programs.h - the programs that processes have executed, and their calls. */
#ifndef COSY_PROFILE_PROGRAMS_H
#define COSY_PROFILE_PROGRAMS_H

#include "fold/profile.h"

/* Returns the number of a program, a new one if there is room; 0: there is none. */
uint32_t programs_add(struct programs *programs, const char *path);

/* Writes the numbers of programs that made calls, most calls first.  Returns their count. */
uint32_t programs_order(const struct programs *programs, uint32_t ret[MAX_PROGRAMS]);

#endif /* COSY_PROFILE_PROGRAMS_H */
