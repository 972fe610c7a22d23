/* SPDX-License-Identifier: MIT */
/*
 * loaded.h - the dynamic linker's list of what is loaded, found without asking it.
 *
 * This library imports nothing, so that the dynamic linker has nothing to write into it: what is
 * written to when a program starts costs each exec a page.  So it has to find libc by itself, when
 * a function of libc's is first needed.
 */
#ifndef COSY_PRELOAD_LOADED_H
#define COSY_PRELOAD_LOADED_H

#include <link.h>

#pragma GCC visibility push(hidden)

/*
 * When the program starts: `vector` is what the kernel says of it on the stack.  Noted only if the
 * kernel cannot be asked for it later.
 */
void loaded_begin(const ElfW(auxv_t) * vector);

/* This library's place in the list; NULL: there is no way to find it. */
const struct link_map *loaded_own(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_LOADED_H */
