// SPDX-License-Identifier: MIT
/*
 * memory.c - core's allocator in libcosy: takes pages straight from the kernel, since a
 * region may run for the first time, and make its program, in a signal handler that
 * has interrupted malloc.  A program's pieces are few and live long.
 */
#include <sys/mman.h>

#include "core.h"

struct piece {
	size_t mapped;
	char memory[] __attribute__((aligned(16)));
};

void *core_alloc(size_t size)
{
	struct piece *piece;
	size_t mapped;

	if (__builtin_add_overflow(size, sizeof(*piece), &mapped))
		return NULL;
	piece = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (piece == MAP_FAILED)
		return NULL;
	piece->mapped = mapped;
	return piece->memory;
}

void core_free(const void *memory)
{
	struct piece *piece;

	if (!memory)
		return;
	piece = (struct piece *)((char *)memory - offsetof(struct piece, memory));
	munmap(piece, piece->mapped);
}
