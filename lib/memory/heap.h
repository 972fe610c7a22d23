/* SPDX-License-Identifier: MIT */
/*
 * heap.h - the allocator of the shared buffer: Boost.Interprocess's
 * best-fit red-black tree, in the buffer itself, behind one lock.
 *
 * There are two such heaps, so that a small program uses only the buffer's front (context.h): one
 * in the low bytes and, made when that has no room, one in the rest.  Between them lie the
 * reserved bytes, which the first thread takes as its slice.
 */
#ifndef COSY_LIB_HEAP_H
#define COSY_LIB_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Takes over [base, base + size), page-aligned, for good: `low` bytes are the first heap's, the
 * next `reserved` ones wait for libcosy_heap_take_reserved.
 */
void libcosy_heap_init(void *base, size_t size, size_t low, size_t reserved);

/* Notes that the heap's memory is gone: nothing touches it any more, not even a free. */
void libcosy_heap_retire(void);
extern bool libcosy_heap_retired;

/*
 * 16-byte aligned memory of the shared buffer; NULL without a buffer or room, or
 * in a signal handler that interrupted the heap.
 */
void *libcosy_heap_alloc(size_t size);
/* Returns the reserved bytes, *size of them; NULL when there are none, or somebody has them. */
void *libcosy_heap_take_reserved(size_t *size);
/* Frees memory that libcosy_heap_owns, the reserved too.  Does nothing for NULL. */
bool libcosy_heap_free(void *memory);

/* Returns how many bytes the caller may use, at least the requested number. */
size_t libcosy_heap_size(const void *memory);

/* True if the address lies in the heap. */
bool libcosy_heap_owns(const void *memory);

/* True if memory of the second heap may have been handed out. */
bool libcosy_heap_is_beyond(void);

/* Returns how many bytes are free, in however many pieces; 0 without a heap. */
size_t libcosy_heap_room(void);

bool libcosy_heap_lock(void);
void libcosy_heap_unlock(void);
void libcosy_heap_child(void);

#ifdef __cplusplus
}
#endif

#endif /* COSY_LIB_HEAP_H */
