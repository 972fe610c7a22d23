/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * world.h - a process as a compound sees it, in a form that two runs can be
 * compared by: three areas of memory, and system calls that answer from a seed
 * and are written down.
 */
#ifndef COSY_TEST_WORLD_H
#define COSY_TEST_WORLD_H

#include "core.h"

enum world_area { WORLD_BUFFER, WORLD_HEAP, WORLD_STACK, WORLD_AREAS };

enum { WORLD_HEAP_SIZE = 4096, WORLD_STACK_SIZE = 4096 };
#define WORLD_HEAP_BASE	 0x7f0000010000ull
#define WORLD_STACK_BASE 0x7f0000030000ull

struct world {
	struct {
		u64 base;
		u32 size;
		u8 *bytes;
	} area[WORLD_AREAS];
	u64 ctx;  /* r1 at the start */
	u64 seed; /* of the answers of system calls */
	u64 log;  /* hash of every call made, with its arguments */
	u32 calls;
	/* Answers calls instead of the seed, unless NULL. */
	u64 (*answer)(struct world *world, u32 number, const u64 reg[6]);
	bool forged; /* a frame was met that no push ever made */
};

/* Makes an independent world; equal arguments give equal worlds. */
void world_init(struct world *world, u64 buffer_base, u32 buffer_size, u64 seed);
void world_deinit(struct world *world);

/* Returns `size` bytes at a user address, or NULL when they are not all in one area. */
u8 *world_bytes(struct world *world, u64 address, u32 size);

/* Makes a system call or operation (r0-r5 in reg); returns its result.  May write memory. */
u64 world_call(struct world *world, u32 number, const u64 reg[6]);

/* Compares two worlds: NULL when they are equal, else what differs. */
const char *world_difference(const struct world *a, const struct world *b);

u64 world_mix(u64 state, u64 value);

/* --- The software stack, as struct cosy_frame lays it down ------------------------- */

/* How a run ends; `at` is then the instruction it stands before. */
enum outcome {
	RUN_DONE,
	RUN_FAULT,
	RUN_TRAP,
	RUN_STACK,     /* the software stack is full */
	RUN_LIMIT,     /* as many operations as allowed */
	RUN_LEFT,      /* stopped in the middle; may go on anywhere */
	RUN_VIOLATION, /* rewritten code did what it must not */
	RUN_ON,	       /* of one step: nothing ended */
};

/* Pushes the caller's registers and frame, zeroes the callee's; false: it is full. */
bool frame_push(struct world *world, struct cosy_state *state, u32 at, u32 caller_words,
		u32 callee_words);
/* Pops the newest frame; returns the instruction of its call, or -1: no such frame. */
s64 frame_pop(struct world *world, struct cosy_state *state, const struct cosy_validated *program);

/* Returns a word of the spill frame: index 1 is r10-8. */
static inline u64 *frame_word(struct cosy_state *state, u32 index)
{
	return &state->frame[COSY_FRAME_SIZE / 8 - index];
}

#endif /* COSY_TEST_WORLD_H */
