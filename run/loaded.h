/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - finds the dynamic linker's list of loaded objects without asking it.
 *
 * This library imports nothing, so that the dynamic linker has nothing to write into it: each page
 * that is written when a program starts costs each exec a page.  So the library finds libc by
 * itself, when it first needs a function of libc's.
 */
#ifndef COSY_RUN_LOADED_H
#define COSY_RUN_LOADED_H

#include <link.h>

#pragma GCC visibility push(hidden)

/*
 * Notes, when the program starts, the auxiliary vector `given`, which lies on the stack.  To ask the
 * kernel for it later, by prctl(2), would end a program that a filter allows no prctl(2).
 */
void loaded_begin(const ElfW(auxv_t) * given);

/* Returns this library's place in the list; NULL: there is no way to find it. */
const struct link_map *loaded_own(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_LOADED_H */
