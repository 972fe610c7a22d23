// SPDX-License-Identifier: MIT
/* stacks.c - see stacks.h. */
#include "access.h"
#include "heap.h"
#include "stacks.h"
#include "thread.h"

#define HEADER	((sizeof(struct cosy_block) + 15) & ~15ull)

static uint64_t start_of(const struct cosy_block *block)
{
	return (uint64_t)((const uint8_t *)block - block->owner->base);
}

static void *memory_of(struct cosy_block *block)
{
	return (uint8_t *)block + HEADER;
}

static bool own_stack(const struct cosy_thread *thread, uintptr_t sp)
{
	return sp >= thread->stack_low && sp < thread->stack_high;
}

/* A dead activation must not be taken for one that a handler has interrupted. */
static void forget_running(struct cosy_thread *thread, struct cosy_activation *dead)
{
	for (struct cosy_activation **at = &thread->running; *at; at = &(*at)->outer) {
		if (*at == dead) {
			*at = dead->outer;
			return;
		}
	}
}

static void end(struct cosy_thread *thread, struct cosy_block *block)
{
	if (block->is_activation && thread)
		forget_running(thread, memory_of(block));
	__atomic_store_n(&block->ended, 1, __ATOMIC_RELEASE);
}

/*
 * Takes ended blocks off the top.  Not while something above them is being made
 * (used is beyond the top block's end): a signal handler may be running us then.
 */
static void trim(struct cosy_slice *slice)
{
	struct cosy_block *top;

	while ((top = slice->top) && __atomic_load_n(&top->ended, __ATOMIC_ACQUIRE) &&
	       slice->used == top->end) {
		uint64_t start = start_of(top);

		slice->top = top->below;
		COSY_BARRIER();
		slice->used = start;
	}
}

/* Ends the blocks that longjmp left behind; `site` is where the next one is made. */
static void end_abandoned(struct cosy_thread *thread, struct cosy_slice *slice,
			  struct cosy_site site)
{
	struct cosy_block *block, *dead = NULL;

	for (block = slice->top; block && !block->ended && own_stack(thread, block->sp) &&
				 block->sp <= site.sp;
	     block = block->below)
		if (block->sp < site.sp || block->site == site.site)
			dead = block;
	if (!dead)
		return;
	for (block = slice->top; block != dead; block = block->below)
		end(thread, block);
	end(thread, dead);
	trim(slice);
}

static void *push(struct cosy_thread *thread, struct cosy_slice *slice, uint64_t size,
		  struct cosy_site site, bool is_activation)
{
	struct cosy_block *block;
	uint64_t start;

	if (size > slice->size || (slice == &thread->slice[0] && cosy_heap_retired))
		return NULL;
	if (slice->top && own_stack(thread, site.sp))
		end_abandoned(thread, slice, site);
	size = (size + 15) & ~15ull;
	start = slice->used;
	if (slice->size - start < HEADER + size)
		return NULL;
	slice->used = start + HEADER + size;
	COSY_BARRIER();
	block = (struct cosy_block *)(slice->base + start);
	block->owner = slice;
	block->sp = site.sp;
	block->site = site.site;
	block->end = start + HEADER + size;
	block->ended = 0;
	block->is_activation = is_activation;
	block->act = NULL;
	block->below = slice->top;
	COSY_BARRIER();
	slice->top = block;
	return memory_of(block);
}

void *cosy_block_push(struct cosy_thread *thread, uint64_t size, struct cosy_site site)
{
	return push(thread, &thread->slice[0], size, site, false);
}

static struct cosy_block *block_of(void *memory)
{
	return (struct cosy_block *)((uint8_t *)memory - HEADER);
}

void cosy_block_pop(void *memory)
{
	struct cosy_block *block = block_of(memory), *above;
	struct cosy_thread *thread = cosy_thread_self;
	struct cosy_slice *slice = block->owner;

	if (!thread || (slice != &thread->slice[0] && slice != &thread->slice[1])) {
		end(NULL, block);	/* a coroutine that moved: its owner trims */
		return;
	}
	/* Usually it is the top block and nothing is above it. */
	for (above = slice->top; above && above != block; above = above->below)
		if (own_stack(thread, above->sp) && own_stack(thread, block->sp) &&
		    above->sp < block->sp)
			end(thread, above);
	end(thread, block);
	trim(slice);
}

struct cosy_activation *cosy_activation_push(struct cosy_thread *thread, uint64_t size,
					     struct cosy_site site)
{
	struct cosy_activation *act = push(thread, &thread->slice[1], sizeof(*act), site, true);
	void *ctx;

	if (!act)
		return NULL;
	ctx = push(thread, &thread->slice[0], size, site, false);
	if (!ctx)
		/* Not from the same site: that would end the activation just made. */
		ctx = push(thread, &thread->slice[1], size, (struct cosy_site){ site.sp, 0 }, false);
	if (!ctx) {
		cosy_block_pop(act);
		return NULL;
	}
	act->ctx = ctx;
	block_of(ctx)->act = act;
	return act;
}

struct cosy_activation *cosy_activation_of(void *ctx)
{
	return block_of(ctx)->act;
}

void cosy_activation_pop(struct cosy_activation *act)
{
	cosy_block_pop(act->ctx);
	cosy_block_pop(act);
}
