/* SPDX-License-Identifier: MIT */
/*
 * room.h - takes memory for the environment of a program that is started, where that is too large
 * for the caller's stack.
 *
 * The child of a vfork cannot return its room: it needs that until its exec, which leaves the
 * memory to its parent.  So the kernel says when the child has left it, and the next room that is
 * taken returns the former one.
 */
#ifndef COSY_RUN_ROOM_H
#define COSY_RUN_ROOM_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Bytes for which the stack has to do: threads have stacks of 16 KiB. */
#define MAX_STACK_ROOM 2048

struct room {
	struct room *next;
	size_t len;
	uint32_t occupied; /* by the child of a vfork; the kernel clears it */
	char *pointers[];
};

/* Returns room for so many bytes, or NULL. */
struct room *room_take(size_t bytes);

/* Returns it.  Takes NULL, too. */
void room_return(struct room *room);

#pragma GCC visibility pop

#endif /* COSY_RUN_ROOM_H */
