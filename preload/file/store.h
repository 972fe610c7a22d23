/* SPDX-License-Identifier: MIT */
/*
 * store.h - the memory of windows.  Addresses are never unmapped, since a late reader may be
 * copying; but of the windows that no file uses only a few keep their memory.
 */
#ifndef COSY_PRELOAD_STORE_H
#define COSY_PRELOAD_STORE_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

/* Capacities, in bytes. */
#define STORE_SMALL 65536
#define STORE_WHOLE (1 << 20)

/* A window of such a capacity, or NULL: that would be more memory than the process may have. */
struct window *store_take(uint64_t capacity);

/* Gives it back.  Callers of both have blocked all signals. */
void store_put(struct window *window);

/* In the child of fork. */
void store_share_child(void);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_STORE_H */
