// SPDX-License-Identifier: MIT
/*
 * fork.c - takes every lock around a fork, so that the child finds everything whole.
 * The child of a raw clone learns of it by its wiped generation (context.h), and takes
 * over locks that were held (lock.h).
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "process/context.h"
#include "process/fork.h"
#include "memory/heap.h"
#include "move/ranges.h"
#include "region/program.h"
#include "process/stats.h"
#include "process/thread.h"

static const struct {
	bool (*lock)(void); /* false: this thread had it when a handler interrupted it */
	void (*unlock)(void);
} locks[] = {
	{libcosy_program_lock, libcosy_program_unlock},
	{libcosy_context_lock, libcosy_context_unlock},
	{libcosy_thread_lock, libcosy_thread_unlock},
	{libcosy_heap_lock, libcosy_heap_unlock},
	{libcosy_ranges_lock, libcosy_ranges_unlock},
};
#define LOCKS (sizeof(locks) / sizeof(*locks))

/* Locks that fork_prepare() took; one that this thread had already stays as it is. */
static _Thread_local bool taken[LOCKS] __attribute__((tls_model("initial-exec")));

static void fork_prepare(void)
{
	for (size_t i = 0; i < LOCKS; i++)
		taken[i] = locks[i].lock();
}

static void fork_in_parent(void)
{
	for (size_t i = LOCKS; i--;)
		if (taken[i])
			locks[i].unlock();
}

static void fork_in_child(void)
{
	libcosy_heap_child();
	libcosy_context_child();
	libcosy_program_child();
	libcosy_thread_child();
	libcosy_ranges_child();
	libcosy_counts_reset();
	libcosy_context_start();
}

void libcosy_fork_register(void)
{
	static bool done;

	if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		pthread_atfork(fork_prepare, fork_in_parent, fork_in_child);
}
