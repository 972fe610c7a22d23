/* SPDX-License-Identifier: MIT */
/* run.h - one activation of a compound: in the kernel, the interpreter, or both by turns. */
#ifndef COSY_LIB_RUN_H
#define COSY_LIB_RUN_H

#include "program.h"
#include "thread.h"

enum cosy_outcome {
	COSY_RAN,		/* to its end: act->run.ret */
	COSY_RAN_NOTHING,	/* the kernel cannot be used now and nothing was done */
	COSY_RAN_OUT,		/* of a limit: act->run.status says which; only with limits on */
};

/*
 * Runs from the start in the kernel.  `limits`: whether reaching a limit ends the
 * compound; a compiled region, which has no way to report it, goes on instead.
 */
enum cosy_outcome cosy_run_in_kernel(struct cosy_thread *thread, struct cosy_loaded *loaded,
				     struct cosy_activation *act, bool limits);

/* Runs from the start, or from where act->run.resume says, in the interpreter. */
enum cosy_outcome cosy_run_in_interp(struct cosy_thread *thread, struct cosy_loaded *loaded,
				     struct cosy_activation *act, bool limits);

#endif /* COSY_LIB_RUN_H */
