/* SPDX-License-Identifier: MIT */
/*
 * store.h - manages the memory of windows.  Addresses are never unmapped, since a late reader may
 * be copying; but of the windows that no file uses only a few keep their memory.
 */
#ifndef COSY_RUN_STORE_H
#define COSY_RUN_STORE_H

#include "file/file.h"
#include "file/price.h"

#pragma GCC visibility push(hidden)

/*
 * Returns a window of a capacity, STORE_SMALL or STORE_WHOLE.  NULL: windows would take more memory
 * than they may.
 */
struct window *store_take(uint64_t capacity);

/* Gives it back.  Callers of both have blocked all signals. */
void store_put(struct window *window);

/* Lets no more windows be mapped: the program locks all its memory that is to come. */
void store_forbid(void);

/* To be called in the child of a fork. */
void store_share_child(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_STORE_H */
