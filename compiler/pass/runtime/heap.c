// SPDX-License-Identifier: MIT
/*
 * heap.c - gives compounds bodies of malloc and its kin, as runtime.c does for other functions.
 *
 * Every block is one of the C library's malloc, so that it may come from outside, stay, and be
 * freed anywhere.  A compound cannot call malloc without leaving the kernel.  So the thread has
 * magazines of blocks (Bonwick and Adams, USENIX 2001), one for each size: libcosy fills an empty
 * one with several calls of malloc at once, and blocks that the compound frees go back there.
 * Freed blocks that find no room wait until there are many, for one call that frees all.
 *
 * A block's size is in its header, as glibc has it; libcosy tries that out before a region with
 * such functions enters (lib/process/magazines.c).
 *
 * Blocks are taken and put by atomic operations: a signal's handler may interrupt the interpreter
 * anywhere, and enter a region of its own.  `count` may then be wrong, and is a hint only.
 */
#include "runtime.h"

void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void *reallocarray(void *block, size_t count, size_t size);

/* As in lib/process/magazines.h. */
#define CLASSES 32 /* of blocks with room for 24 bytes, 40, and so on */
#define BLOCKS	32 /* in a magazine */
#define FREED	64
#define LEAST	24
#define LARGEST (LEAST + 16 * (CLASSES - 1))
#define KEPT	4096 /* larger blocks are freed at once */

struct magazine {
	unsigned count, wanted;
	void *block[BLOCKS];
};

struct magazines {
	struct magazine of[CLASSES];
	void *freed[FREED];
	unsigned long freed_count;
};

/*
 * libcosy's: the thread's magazines; fills one and returns a block; frees those that wait, and one.
 */
struct magazines *__cosy_magazines(void);
void *__cosy_magazine_fill(struct magazines *magazines, size_t class) __attribute__((nothrow));
void __cosy_magazines_free(struct magazines *magazines, void *block) __attribute__((nothrow));

#define HEADER_FLAGS  7ul
#define HEADER_MAPPED 2ul /* a mapping of its own */

static size_t header(const void *block)
{
	return ((const size_t *)block)[-1];
}

/* Returns the bytes that a block has room for. */
static size_t room(size_t header)
{
	return (header & ~HEADER_FLAGS) - sizeof(size_t);
}

void *RT(malloc)(size_t size)
{
	struct magazines *magazines;
	struct magazine *of;
	size_t class;
	unsigned count;
	void *block;

	if (size > LARGEST)
		return malloc(size);
	magazines = __cosy_magazines();
	class = size <= LEAST ? 0 : (size - LEAST + 15) / 16;
	of = &magazines->of[class];
	count = of->count;
	if (count) {
		count = (count - 1) % BLOCKS;
		block = __atomic_exchange_n(&of->block[count], NULL, __ATOMIC_SEQ_CST);
		of->count = count;
		if (block)
			return block;
	}
	return __cosy_magazine_fill(magazines, class);
}

void RT(free)(void *block)
{
	struct magazines *magazines;
	struct magazine *of;
	size_t bytes, class;
	unsigned long count;

	if (!block)
		return;
	bytes = header(block);
	if (bytes & HEADER_MAPPED || room(bytes) > KEPT) {
		free(block);
		return;
	}
	magazines = __cosy_magazines();
	class = (room(bytes) - LEAST) / 16;
	if (class < CLASSES) {
		of = &magazines->of[class];
		count = of->count;
		if (count < BLOCKS &&
		    !__sync_val_compare_and_swap(&of->block[count], NULL, block)) {
			of->count = count + 1;
			return;
		}
	}
	count = magazines->freed_count;
	if (count < FREED && !__sync_val_compare_and_swap(&magazines->freed[count], NULL, block)) {
		magazines->freed_count = count + 1;
		return;
	}
	__cosy_magazines_free(magazines, block);
}

void *RT(calloc)(size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > LARGEST)
		return calloc(count, size);
	block = RT(malloc)(bytes);
	return block ? memset(block, 0, bytes) : NULL;
}

/* Leaves a block as it is if it has the room; one that grows does so by leaving, which is rare. */
void *RT(realloc)(void *old, size_t size)
{
	size_t bytes;

	if (!old)
		return RT(malloc)(size);
	bytes = header(old);
	if (!size || size > room(bytes) || bytes & HEADER_MAPPED || room(bytes) > KEPT)
		return realloc(old, size);
	return old;
}

void *RT(reallocarray)(void *block, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return reallocarray(block, count, size);
	return RT(realloc)(block, bytes);
}

char *RT(strdup)(const char *s)
{
	size_t bytes = strlen(s) + 1;
	char *copy = RT(malloc)(bytes);

	return copy ? memcpy(copy, s, bytes) : NULL;
}

char *RT(strndup)(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = RT(malloc)(length + 1);

	if (!copy)
		return NULL;
	memcpy(copy, s, length);
	copy[length] = 0;
	return copy;
}

/* glibc's own names of them. */
char *RT(__strdup)(const char *s)
{
	return RT(strdup)(s);
}

char *RT(__strndup)(const char *s, size_t n)
{
	return RT(strndup)(s, n);
}
