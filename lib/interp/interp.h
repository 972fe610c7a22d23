/* SPDX-License-Identifier: MIT */
/*
 * interp.h - runs a compound in user mode, from any resume point, with real
 * system calls and plain loads and stores.
 *
 * It keeps struct cosy_state and struct cosy_frame exactly as the kernel does,
 * so either may go on where the other left.
 */
#ifndef COSY_LIB_INTERP_H
#define COSY_LIB_INTERP_H

#include "../../core/core.h"

/* How the interpreter treats a call that is a cancellation point of libc. */
enum libcosy_interp_cancel {
	COSY_CANCEL_IGNORED,
	COSY_CANCEL_ACTS,  /* the thread may be cancelled in the call */
	COSY_CANCEL_STOPS, /* end with COSY_LEFT_CALL before it */
};

struct libcosy_interp {
	const struct cosy_validated *program;
	struct cosy_state *state;
	u64 ctx;	/* r1 at the start, and the answer of COSY_OP_ctx */
	u8 *stack;	/* software stack, 16-byte aligned, with a guard page above it */
	u64 stack_size; /* bytes below the guard page */
	u32 resume;	/* in/out: 0 = start, else instruction + 1 */
	s64 ret;	/* out on COSY_DONE: r0 at exit */
	u64 calls;	/* system calls made; counts up */
	enum libcosy_interp_cancel cancel; /* of this thread while it runs */
	bool watched;			   /* make calls as libc makes them (libc_calls.h) */
	u64 max_steps; /* end with COSY_ENDED_STEPS when state->steps reaches it, 0 = never */
	/*
	 * End with COSY_ENDED_TIME when state->kernel_ns, and the thread's CPU time since, reach
	 * it; 0 = never
	 */
	u64 max_ns;
	u64 started; /* the thread's CPU time when state->kernel_ns was 0; of libcosy_interp_run */
	bool left;   /* an operation has left for max_ns: r1-r5 say what remains, as at RUN */
};

/*
 * Runs until the compound ends (COSY_DONE), reaches a limit (COSY_ENDED_STEPS,
 * COSY_ENDED_TIME) or a cancellation point (COSY_LEFT_CALL, see above), or is about
 * to execute an instruction, other than the first one, that carries one of the
 * marks `stop` (COSY_LEFT_WORK).  In every case *state and `resume` say where to go
 * on.
 *
 * A bad access is the process's own SIGSEGV, COSY_OP_trap its SIGILL, COSY_OP_divide_error its
 * SIGFPE, a full software stack a SIGSEGV on the guard page; a handler that returns has the
 * instruction repeated, one that jumps away abandons the compound.
 */
enum cosy_status libcosy_interp_run(struct libcosy_interp *in, unsigned int stop);

/*
 * Asked by an operation of any number of calls before each of them but the first: whether it has to
 * leave there, which it says by in->left.
 */
bool libcosy_interp_leaves(struct libcosy_interp *in);

#endif /* COSY_LIB_INTERP_H */
