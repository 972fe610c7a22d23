/* SPDX-License-Identifier: MIT */
/*
 * magazines.h - blocks of malloc that a thread's compounds take and give back without leaving the
 * kernel.
 *
 * All blocks are the C library's (compiler/pass/runtime/heap.c).  A compound leaves for libcosy
 * when a magazine is empty, and when many freed blocks wait.  What is left goes to free when the
 * thread exits.
 */
#ifndef COSY_LIB_MAGAZINES_H
#define COSY_LIB_MAGAZINES_H

#include <stdbool.h>
#include <stdint.h>

#define LIBCOSY_CLASSES	 32 /* of blocks with room for 24 bytes, 40, and so on */
#define LIBCOSY_BLOCKS	 32 /* in a magazine */
#define LIBCOSY_FREED	 64
#define LIBCOSY_SMALLEST 24

struct libcosy_magazine {
	uint32_t count;	 /* blocks from the first on, as far as is known */
	uint32_t wanted; /* blocks that the next filling makes; 0: the fewest */
	void *block[LIBCOSY_BLOCKS];
};

struct libcosy_magazines {
	struct libcosy_magazine of[LIBCOSY_CLASSES];
	void *freed[LIBCOSY_FREED];
	uint64_t freed_count;
};

/* Frees all blocks. */
void libcosy_magazines_empty(struct libcosy_magazines *magazines);

/* Returns whether a block's header is the one that compounds know. */
bool libcosy_blocks_are_known(void);

/* True for the functions of which a compound's bodies rely on it. */
bool libcosy_is_of_heap(const char *name);

#endif /* COSY_LIB_MAGAZINES_H */
