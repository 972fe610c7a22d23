// SPDX-License-Identifier: MIT
/* stacks.c - see stacks.h. */
#include "interp/access.h"
#include "process/context.h"
#include "memory/heap.h"
#include "process/stacks.h"
#include "process/thread.h"

#define HEADER ((sizeof(struct libcosy_block) + 15) & ~15ull)

static void *block_memory(struct libcosy_block *block)
{
	return (uint8_t *)block + HEADER;
}

static struct libcosy_block *block_of_memory(void *memory)
{
	return (struct libcosy_block *)((uint8_t *)memory - HEADER);
}

static bool thread_owns_stack(const struct libcosy_thread *thread, uintptr_t sp)
{
	return sp >= thread->stack_low && sp < thread->stack_high;
}

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* --- Activations ------------------------------------------------------------------- */

/* Unlinks an activation from the running ones: a handler would take it for an interrupted one. */
static void activation_stop(struct libcosy_thread *thread, struct libcosy_activation *act)
{
	for (struct libcosy_activation **at = &thread->running; *at; at = &(*at)->outer) {
		if (*at == act) {
			*at = act->outer;
			return;
		}
	}
}

/*
 * The free list needs no atomics: a handler that interrupts its user gives back
 * what it takes before it returns.
 */
static inline void activation_release(struct libcosy_thread *thread, struct libcosy_activation *act)
{
	if (unlikely(thread->running))
		activation_stop(thread, act);
	act->outer = thread->free;
	COSY_BARRIER();
	thread->free = act;
}

/* Makes one more, or returns NULL.  A handler that interrupts this makes the next one. */
static __attribute__((noinline)) struct libcosy_activation *activation_make(
	struct libcosy_thread *thread)
{
	unsigned int i = __atomic_fetch_add(&thread->acts_made, 1, __ATOMIC_RELAXED);
	struct libcosy_activation *act;

	if (i >= COSY_ACTIVATIONS) {
		__atomic_store_n(&thread->acts_made, COSY_ACTIVATIONS, __ATOMIC_RELAXED);
		return NULL;
	}
	act = &thread->acts[i];
	/* The module is asked for the number of calls only while a balance is kept (balance.c). */
	act->run.size = offsetof(struct cosy_run, calls);
	act->run.state = (uint64_t)&act->state;
	act->outer = NULL;
	return act;
}

/* Takes a free one, or returns NULL. */
static inline struct libcosy_activation *activation_take(struct libcosy_thread *thread)
{
	struct libcosy_activation *act = thread->free;

	if (unlikely(!act))
		return activation_make(thread);
	thread->free = act->outer;
	COSY_BARRIER();
	return act;
}

/* --- Blocks -------------------------------------------------------------------------- */

static inline void block_release(struct libcosy_thread *thread, struct libcosy_block *block)
{
	struct libcosy_activation *act = block->act;

	if (act) {
		block->act = NULL;
		activation_release(thread, act);
	}
}

static void block_end(struct libcosy_thread *thread, struct libcosy_block *block)
{
	block_release(thread, block);
	__atomic_store_n(&block->ended, 1, __ATOMIC_RELEASE);
}

static bool block_is_ended(const struct libcosy_block *block)
{
	return __atomic_load_n(&block->ended, __ATOMIC_ACQUIRE);
}

/*
 * Takes ended blocks off the top, unless a block above them is being made (`used` is beyond the
 * top block's end): then this is a signal handler that interrupted the maker.
 */
static void slice_trim(struct libcosy_thread *thread, struct libcosy_slice *slice)
{
	struct libcosy_block *top;

	while ((top = slice->top) && block_is_ended(top) && slice->used == top->end) {
		uint64_t start = top->start;

		/* Also releases the activation of a block that another thread ended. */
		block_release(thread, top);
		slice->top = top->below;
		COSY_BARRIER();
		slice->used = start;
	}
}

/* Ends the blocks that a longjmp abandoned; `site` is where the next one is made. */
static __attribute__((noinline)) void slice_end_abandoned(struct libcosy_thread *thread,
							  struct libcosy_slice *slice,
							  struct libcosy_site site)
{
	struct libcosy_block *block, *dead = NULL;

	for (block = slice->top; block && !block_is_ended(block) &&
				 thread_owns_stack(thread, block->sp) && block->sp <= site.sp;
	     block = block->below)
		if (block->sp < site.sp || block->site == site.site)
			dead = block;
	if (dead) {
		for (block = slice->top; block != dead; block = block->below)
			block_end(thread, block);
		block_end(thread, dead);
	}
	slice_trim(thread, slice);
}

static inline void *block_push(struct libcosy_thread *thread, struct libcosy_slice *slice,
			       uint64_t size, struct libcosy_site site,
			       struct libcosy_activation *act)
{
	struct libcosy_block *block;
	uint64_t start, end;

	if (slice->top && thread_owns_stack(thread, site.sp))
		slice_end_abandoned(thread, slice, site);
	start = slice->used;
	end = start + HEADER + ((size + 15) & ~15ull);
	if (unlikely(end > slice->size || size > slice->size))
		return NULL;
	slice->used = end;
	COSY_BARRIER();
	block = (struct libcosy_block *)(slice->base + start);
	block->owner = slice;
	block->sp = site.sp;
	block->site = site.site;
	block->start = start;
	block->end = end;
	block->act = act;
	block->ended = 0;
	block->below = slice->top;
	COSY_BARRIER();
	slice->top = block;
	return block_memory(block);
}

void libcosy_slice_measure(struct libcosy_slice *slice)
{
	int64_t size = libcosy_front_from(slice->base);

	if (size < 0)
		size = 0;
	slice->size = (uint64_t)size < slice->whole ? (uint64_t)size : slice->whole;
}

/* Takes memory that the front does not cover yet. */
static __attribute__((noinline)) void *block_push_further(struct libcosy_thread *thread,
							  uint64_t size, struct libcosy_site site,
							  struct libcosy_activation *act)
{
	struct libcosy_slice *slice = &thread->slice[0];
	uint64_t end = slice->used + HEADER + ((size + 15) & ~15ull);

	/* Threads to come take larger slices. */
	libcosy_note_frame(size);
	if (libcosy_heap_retired || slice->size == slice->whole || end > slice->whole ||
	    size > slice->whole || !libcosy_front_cover(slice->base + end))
		return NULL;
	libcosy_slice_measure(slice);
	return block_push(thread, slice, size, site, act);
}

void *libcosy_block_push(struct libcosy_thread *thread, uint64_t size, struct libcosy_site site)
{
	void *memory = NULL;

	if (likely(!libcosy_heap_retired))
		memory = block_push(thread, &thread->slice[0], size, site, NULL);
	return likely(memory) ? memory : block_push_further(thread, size, site, NULL);
}

/* The shared buffer has no room: take a ctx elsewhere, which is slower but serves as well. */
static __attribute__((noinline)) void *block_push_on_heap(struct libcosy_thread *thread,
							  uint64_t size, struct libcosy_site site,
							  struct libcosy_activation *act)
{
	void *memory = block_push_further(thread, size, site, act);

	return memory ? memory : block_push(thread, &thread->slice[1], size, site, act);
}

struct libcosy_activation *libcosy_activation_push(struct libcosy_thread *thread, uint64_t size,
						   struct libcosy_site site)
{
	struct libcosy_activation *act = activation_take(thread);
	void *ctx = NULL;

	if (unlikely(!act))
		return NULL;
	if (likely(!libcosy_heap_retired))
		ctx = block_push(thread, &thread->slice[0], size, site, act);
	if (unlikely(!ctx))
		ctx = block_push_on_heap(thread, size, site, act);
	if (unlikely(!ctx)) {
		activation_release(thread, act);
		return NULL;
	}
	act->ctx = ctx;
	return act;
}

struct libcosy_activation *libcosy_activation_of(void *ctx)
{
	return block_of_memory(ctx)->act;
}

static __attribute__((noinline)) void block_pop_slow(struct libcosy_thread *thread,
						     struct libcosy_block *block)
{
	struct libcosy_slice *slice = block->owner;
	struct libcosy_block *above;

	if (!thread || (slice != &thread->slice[0] && slice != &thread->slice[1])) {
		/* A coroutine has moved: the block's own thread takes it off where it is marked. */
		__atomic_store_n(&block->ended, 1, __ATOMIC_RELEASE);
		return;
	}
	for (above = slice->top; above && above != block; above = above->below)
		if (thread_owns_stack(thread, above->sp) && thread_owns_stack(thread, block->sp) &&
		    above->sp < block->sp)
			block_end(thread, above);
	block_end(thread, block);
	slice_trim(thread, slice);
}

void libcosy_block_pop(void *memory)
{
	struct libcosy_thread *thread = libcosy_thread_self;
	struct libcosy_block *block = block_of_memory(memory);
	struct libcosy_slice *slice = block->owner;
	struct libcosy_block *below = block->below;

	/* The common case: the top block of our own slice, with nothing to trim below it. */
	if (unlikely(!thread || slice != &thread->slice[0] || slice->top != block ||
		     slice->used != block->end || (below && block_is_ended(below)))) {
		block_pop_slow(thread, block);
		return;
	}
	block_release(thread, block);
	slice->top = below;
	COSY_BARRIER();
	slice->used = block->start;
}
