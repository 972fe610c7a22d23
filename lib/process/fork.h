/* SPDX-License-Identifier: MIT */
/*
 * fork.h - takes every lock around a fork, so that the child finds everything whole.
 *
 * The child of a raw clone learns of it by its wiped generation (life.h), and takes over locks that
 * were held (lock.h).
 */
#ifndef COSY_LIB_FORK_H
#define COSY_LIB_FORK_H

#include <stdbool.h>

struct libcosy_fork_handler {
	bool (*lock)(void); /* false: this thread had it when a handler interrupted it */
	void (*unlock)(void);
	void (*child)(void); /* in the child, instead of unlock, whether lock took it or not */
};

/*
 * The handlers of all owners, in the order in which their locks are taken; children go backwards.
 * The list is lib/fork_handlers.c: fork.c knows no owner, so owners may use it.
 */
#define LIBCOSY_FORK_HANDLERS 5
extern const struct libcosy_fork_handler libcosy_fork_handlers[LIBCOSY_FORK_HANDLERS];

/* Has libc call them around forks, from its first call on.  Not async-signal-safe. */
void libcosy_fork_register(void);

#endif /* COSY_LIB_FORK_H */
