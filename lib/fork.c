// SPDX-License-Identifier: MIT
/*
 * fork.c - a fork takes every lock, so that the child finds everything whole.
 * A child of a raw clone finds out by its wiped generation (context.h), and takes
 * over what locks were held (lock.h).
 */
#include <pthread.h>

#include "context.h"
#include "heap.h"
#include "program.h"
#include "stats.h"
#include "thread.h"

static void before(void)
{
	cosy_program_lock();
	cosy_context_lock();
	cosy_thread_lock();
	cosy_heap_lock();
}

static void in_parent(void)
{
	cosy_heap_unlock();
	cosy_thread_unlock();
	cosy_context_unlock();
	cosy_program_unlock();
}

static void in_child(void)
{
	cosy_heap_child();
	cosy_context_child();
	cosy_program_child();
	cosy_thread_child();
	cosy_counts_reset();
}

__attribute__((constructor(101))) static void fork_start(void)
{
	pthread_atfork(before, in_parent, in_child);
}
