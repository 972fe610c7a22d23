/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - finds the dynamic linker's list of loaded objects without asking it.
 *
 * This library imports nothing, so that the dynamic linker has nothing to write into it: each page
 * that is written when a program starts costs each exec a page.  So the library finds libc by
 * itself, when it first needs a function of libc's.
 */
#ifndef COSY_PRELOAD_LOADED_H
#define COSY_PRELOAD_LOADED_H

#include <link.h>

#pragma GCC visibility push(hidden)

/*
 * Notes, when the program starts, `vector`, which the kernel put on the stack; only if the
 * kernel cannot be asked for it later.
 */
void loaded_begin(const ElfW(auxv_t) * vector);

/* Returns this library's place in the list; NULL: there is no way to find it. */
const struct link_map *loaded_own(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_LOADED_H */
