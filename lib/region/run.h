/* SPDX-License-Identifier: MIT */
/* run.h - one activation of a compound: in the kernel, the interpreter, or both by turns. */
#ifndef COSY_LIB_RUN_H
#define COSY_LIB_RUN_H

#include "region/program.h"
#include "process/thread.h"

enum libcosy_outcome {
	COSY_RAN,	  /* to its end: act->run.ret */
	COSY_RAN_NOTHING, /* the kernel cannot be used now and nothing was done */
	COSY_RAN_OUT,	  /* of a limit: act->run.status says which; only with limits on */
};

/*
 * Runs from the start, in the kernel if the activation is bound to a handle there
 * (libcosy_activation_bind), else in the interpreter.  `limits`: whether reaching a
 * limit ends the compound; a compiled region, which has no way to report it, goes
 * on instead.
 */
enum libcosy_outcome libcosy_run_bound(struct libcosy_thread *thread, struct cosy_loaded *loaded,
				       struct libcosy_activation *act, bool limits);

/*
 * Does the same for a thread with thread->cancels.  A thread that is cancelled meanwhile ends where
 * the compound makes a call that libc would make a cancellation point, or where the compound ends;
 * its activation has ended by then.
 */
enum libcosy_outcome libcosy_run_cancellable(struct libcosy_thread *thread,
					     struct cosy_loaded *loaded,
					     struct libcosy_activation *act, bool limits);

/*
 * A program's place in a context, with the context's descriptor.  All turns of an
 * activation are the same context's, even if another one is opened meanwhile.
 */
struct libcosy_place {
	int fd;
	u64 place; /* as in struct cosy_loaded */
};

/* False unless the program is loaded into the context that is in use now. */
static inline bool libcosy_place_get(const struct cosy_loaded *loaded, struct libcosy_place *ret)
{
	/* Read in this order: a new context's descriptor is there before its generation. */
	ret->fd = __atomic_load_n(&libcosy_the_fd, __ATOMIC_ACQUIRE);
	ret->place = __atomic_load_n(&loaded->place, __ATOMIC_ACQUIRE);
	return (u32)ret->place && ret->place >> 32 == libcosy_generation();
}

/* Binds the activation to the kernel or, with NULL, to the interpreter. */
static inline void libcosy_activation_bind(struct libcosy_activation *act,
					   const struct libcosy_place *place)
{
	act->run.handle = place ? (u32)place->place : 0;
	if (place) {
		act->generation = place->place >> 32;
		act->fd = place->fd;
	}
}

#endif /* COSY_LIB_RUN_H */
