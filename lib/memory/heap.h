/* SPDX-License-Identifier: MIT */
/*
 * heap.h - the allocator of the shared buffer: Boost.Interprocess's best-fit red-black trees, which
 * lie in the buffer itself, under one lock.
 *
 * There are two such heaps, so that a small program uses only the buffer's front (context.h).  The
 * first has the low bytes.  The second has the high bytes; it is made when the first has no room.
 * Between them are the reserved bytes, which the first thread takes as its slice.
 */
#ifndef COSY_LIB_HEAP_H
#define COSY_LIB_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Takes over [base, base + size), page-aligned, until the process ends.  The first heap has the
 * first `low` bytes; the next `reserved` bytes are for libcosy_heap_take_reserved.
 */
void libcosy_heap_init(void *base, size_t size, size_t low, size_t reserved);

/* Notes that the memory is gone: nothing is allocated or freed there any more. */
void libcosy_heap_retire(void);
/* True after libcosy_heap_retire. */
extern bool libcosy_heap_retired;

/*
 * Returns 16-byte aligned memory of the shared buffer, for libcosy_heap_free.  NULL if there is no
 * buffer or no room, or a signal handler interrupted the heap.
 */
void *libcosy_heap_alloc(size_t size);
/*
 * Returns the reserved bytes and their number in *size, for libcosy_heap_free.  NULL if there are
 * none, they are taken, or a signal handler interrupted the heap.
 */
void *libcosy_heap_take_reserved(size_t *size);
/*
 * Frees memory of the functions above; does nothing for NULL.  False: the memory is lost, because
 * the heap is retired or a signal handler interrupted it.
 */
bool libcosy_heap_free(void *memory);

/* Returns how many bytes of libcosy_heap_alloc's memory the caller may use, all requested ones. */
size_t libcosy_heap_size(const void *memory);

/* True if the address is in the memory that libcosy_heap_init took over. */
bool libcosy_heap_owns(const void *memory);

/* True if the second heap was made, so that its memory may be in use. */
bool libcosy_heap_is_beyond(void);

/* Returns how many bytes are free in both heaps, in any number of pieces; 0 without a heap. */
size_t libcosy_heap_room(void);

/* Called around a fork: see fork.h.  False: a signal handler interrupted the heap. */
bool libcosy_heap_lock(void);
void libcosy_heap_unlock(void);
void libcosy_heap_child(void);

#ifdef __cplusplus
}
#endif

#endif /* COSY_LIB_HEAP_H */
