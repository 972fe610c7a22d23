// SPDX-License-Identifier: MIT
/* malloc.c - cosy_malloc and its family: the shared buffer's heap, else libc's. */
#include <stdlib.h>
#include <string.h>

#include "process/context.h"
#include "memory/heap.h"
#include "process/settings.h"

#include <cosy/cosy.h>

/*
 * Opens the context only where every region goes to the kernel at once; otherwise the shared
 * buffer gains nothing until some region has earned a context.
 */
static void *shared_alloc(size_t size)
{
	if (libcosy_settings_force())
		libcosy_context_open();
	libcosy_note_heap();
	return libcosy_shared_alloc(size);
}

int cosy_is_shared(const void *memory)
{
	return libcosy_heap_owns(memory);
}

void *cosy_malloc(size_t size)
{
	void *memory = shared_alloc(size);

	return memory ? memory : malloc(size);
}

void *cosy_calloc(size_t count, size_t size)
{
	void *memory;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	memory = shared_alloc(bytes);
	return memory ? memset(memory, 0, bytes) : calloc(1, bytes);
}

void *cosy_realloc(void *memory, size_t size)
{
	size_t old;
	void *now;

	if (!memory)
		return cosy_malloc(size);
	if (!libcosy_heap_owns(memory))
		/* The C library's frees for 0 bytes, and tells by NULL, which is a failure here. */
		return realloc(memory, size ? size : 1);
	old = libcosy_heap_size(memory);
	if (size <= old && size >= old / 2)
		return memory;
	now = cosy_malloc(size);
	if (!now)
		return NULL;
	memcpy(now, memory, size < old ? size : old);
	libcosy_heap_free(memory);
	return now;
}

void cosy_mem_free(void *memory)
{
	if (!libcosy_heap_owns(memory))
		free(memory);
	else
		libcosy_heap_free(memory);
}
