// SPDX-License-Identifier: MIT
/* fork.c - see fork.h. */
#include <pthread.h>
#include <stddef.h>

#include "process/fork.h"

/* Locks that fork_prepare() took; one that this thread had already stays as it is. */
static _Thread_local bool taken[LIBCOSY_FORK_HANDLERS] __attribute__((tls_model("initial-exec")));

static void fork_prepare(void)
{
	for (size_t i = 0; i < LIBCOSY_FORK_HANDLERS; i++)
		taken[i] = libcosy_fork_handlers[i].lock();
}

static void fork_in_parent(void)
{
	for (size_t i = LIBCOSY_FORK_HANDLERS; i--;)
		if (taken[i])
			libcosy_fork_handlers[i].unlock();
}

static void fork_in_child(void)
{
	for (size_t i = LIBCOSY_FORK_HANDLERS; i--;)
		libcosy_fork_handlers[i].child();
}

void libcosy_fork_register(void)
{
	static bool done;

	if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		pthread_atfork(fork_prepare, fork_in_parent, fork_in_child);
}
