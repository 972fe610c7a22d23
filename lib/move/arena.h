/* SPDX-License-Identifier: MIT */
/* arena.h - where arenas are, and the module's operations on memory that moves. */
#ifndef COSY_LIB_MOVE_ARENA_H
#define COSY_LIB_MOVE_ARENA_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cosy_move;

#define PAGE 4096UL

static inline bool libcosy_is_whole(const void *memory, size_t count)
{
	return !(((uintptr_t)memory | count) & (PAGE - 1));
}

static inline size_t libcosy_whole_pages(size_t size)
{
	return (size + PAGE - 1) & ~(PAGE - 1);
}

/* Remembers that [memory, memory + count) is an arena's now. */
void libcosy_arenas_add(const void *memory, size_t count);

/*
 * False where no arena has any of it, unless the program has moved one there.  Ask for one byte
 * where an arena is to have all of it.
 */
bool libcosy_arenas_may_have(const void *memory, size_t count);

/* True if the process had an arena, wherever the program has moved it. */
bool libcosy_arenas_exist(void);

/*
 * Maps a new arena of `size` bytes, whole pages, with COSY_ARENA_* flags; MAP_FAILED without the
 * module or memory.
 */
void *libcosy_arena_map(size_t size, uint32_t flags);

/*
 * Makes COSY_IOC_MOVE; a cancellation point when it is a loan or a transfer.  Returns the result or
 * a negative errno.
 */
long libcosy_move(uint32_t operation, const void *memory, size_t count, int fd, uint32_t flags);

/* The same with all that a request has but its size; PASS and TAKE are cancellation points, too. */
long libcosy_move_make(struct cosy_move *move);

/*
 * Empties what pages an arena has in these whole pages.  Returns 1: all of the memory is empty now;
 * 0: the rest is no arena's; -ENOMEM: pages that must not be written may be left.
 */
int libcosy_arenas_empty(char *memory, size_t count);

/* Clears whole pages, an arena's or others.  Returns 0, or -ENOMEM as libcosy_arenas_empty does. */
int libcosy_arenas_clear(char *memory, size_t count);

/*
 * True if an arena may have some of the memory, all of which is to be written: it becomes present,
 * which saves faults of memory that is no arena's.
 */
bool libcosy_arenas_may_have_written(char *memory, size_t count);

/*
 * move.c's: empties whole pages that are to be written, so that nothing there is shared, or gone.
 * False with ENOMEM: something still is, so they must not be written.
 */
bool libcosy_own(void *memory, size_t count);

/* Returns those of a caller's flags that the module knows, as it knows them. */
uint32_t libcosy_move_flags(int flags);

/* True if the kernel did nothing: the memory is no arena's, or the file of another kind. */
bool libcosy_move_is_refused(long ret);

/* Returns a result as system calls do, with errno. */
static inline ssize_t libcosy_move_answer(long ret)
{
	if (ret >= 0)
		return ret;
	errno = (int)-ret;
	return -1;
}

/* Return a new memfd that has the bytes, sealed as a copy; and tell whether one is. */
int libcosy_memfd_copy(const void *memory, size_t count);
bool libcosy_memfd_is_copy(int fd);

#endif /* COSY_LIB_MOVE_ARENA_H */
