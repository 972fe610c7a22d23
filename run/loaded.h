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
 * Notes, when the program starts, `given`, which lies on the stack; only if the kernel does not
 * give the same.  It gives none before Linux 6.4, where a filter has prctl fail; and another one
 * where the program's loader is not the kernel (PRoot's), which sets the one on the stack right.
 */
void loaded_begin(const ElfW(auxv_t) * given);

/* Returns this library's place in the list; NULL: there is no way to find it. */
const struct link_map *loaded_own(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_LOADED_H */
