// SPDX-License-Identifier: MIT
/*
 * memory.c - core's allocator in libcosy: takes pages straight from the kernel, since a
 * region may run for the first time, and make its program, in a signal handler that
 * has interrupted malloc.  A program's pieces are few and live long.
 *
 * The first small pieces share one mapping, which most processes then need alone: to map, fault and
 * unmap a page for each would cost more than the rest of a first entry.  What is freed there is not
 * used again.
 */
#include "core.h"
#include "syscall.h"

struct piece {
	size_t mapped; /* 0: it lies in the shared mapping */
	char memory[] __attribute__((aligned(16)));
};

/* Bytes of the shared mapping, and of the largest piece in it. */
#define SHARED	     (64u << 10)
#define SHARED_PIECE (8u << 10)

static char *shared;
static size_t shared_used;

static void *pages_map(size_t size)
{
	return cosy_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/* Returns the shared mapping, which is made when it is first needed, or NULL. */
static char *shared_make(void)
{
	char *now = __atomic_load_n(&shared, __ATOMIC_ACQUIRE), *fresh;

	if (now)
		return now;
	fresh = pages_map(SHARED);
	if (!fresh || __atomic_compare_exchange_n(&shared, &now, fresh, false, __ATOMIC_ACQ_REL,
						  __ATOMIC_ACQUIRE))
		return fresh;
	/* Another thread, or a handler, was faster. */
	munmap(fresh, SHARED);
	return now;
}

static struct piece *shared_alloc(size_t size)
{
	size_t at;
	char *memory;

	size = (size + 15) & ~15ul;
	if (size > SHARED_PIECE || __atomic_load_n(&shared_used, __ATOMIC_RELAXED) > SHARED - size)
		return NULL;
	memory = shared_make();
	if (!memory)
		return NULL;
	at = __atomic_fetch_add(&shared_used, size, __ATOMIC_RELAXED);
	return at <= SHARED - size ? (struct piece *)(memory + at) : NULL;
}

void *core_alloc(size_t size)
{
	struct piece *piece;
	size_t mapped;

	if (__builtin_add_overflow(size, sizeof(*piece), &mapped))
		return NULL;
	piece = shared_alloc(mapped);
	if (piece)
		return piece->memory;
	piece = pages_map(mapped);
	if (!piece)
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
	if (piece->mapped)
		munmap(piece, piece->mapped);
}
