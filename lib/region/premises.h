/* SPDX-License-Identifier: MIT */
/* premises.h - checks that a compound has its source's meaning in this process. */
#ifndef COSY_LIB_PREMISES_H
#define COSY_LIB_PREMISES_H

#include <stdbool.h>
#include <stddef.h>

struct cosy_premises;

/*
 * True if all functions that the compound has system calls for are libc's, as the dynamic
 * linker has bound them.  False with `why`, one line, filled in.
 */
bool libcosy_premises_hold(const struct cosy_premises *premises, char *why, size_t size);

#endif /* COSY_LIB_PREMISES_H */
