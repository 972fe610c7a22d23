// SPDX-License-Identifier: MIT
/*
 * run.c - the leave loop: goes on where a compound left, in the kernel or the interpreter
 * (docs/inside/leaving.md).
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "process/cancel.h"
#include "interp/interp.h"
#include "region/run.h"
#include "process/stats.h"
#include "syscall.h"

/* Statuses that no RUN writes: left by a RUN that did nothing, and while the interpreter runs. */
#define NOT_RUN	    (~0u)
#define INTERPRETED (~1u)

/* The kernel's SYSCALL_WORK_SECCOMP, as the detail of LEFT_TRACED has it. */
#define WORK_SECCOMP (1u << 0)

/* A tracer may go away: try again after 1, 2, 4, .. this many activations. */
#define MAX_PAUSE 1024u

/* --- The software stack ------------------------------------------------------- */

/*
 * Gives an activation in a signal handler what is free above the stacks of those that it
 * interrupted.  They all stopped between two instructions, so their `sp` is right.
 */
static void stack_begin(struct libcosy_thread *thread, struct libcosy_activation *act)
{
	u8 *from;

	libcosy_thread_soft_stack(thread);
	from = thread->soft_stack;
	for (const struct libcosy_activation *outer = thread->running; outer; outer = outer->outer)
		if (outer != act && outer->run.stack) {
			from = (u8 *)(outer->run.stack + ((outer->state.sp + 15) & ~15ull));
			break;
		}
	act->run.stack = (u64)from;
	act->run.stack_size = thread->soft_stack + thread->soft_size - from;
}

/*
 * True if it would need a software stack that this thread may not make, since filters have
 * been armed; the interpreter, which only the program asks for, makes it anyway.
 */
static bool run_lacks_stack(const struct libcosy_thread *thread, const struct cosy_loaded *loaded,
			    const struct libcosy_activation *act)
{
	return loaded->needs_stack && !thread->soft_stack && act->run.handle &&
	       !libcosy_context_lets();
}

static inline void run_begin(struct libcosy_thread *thread, const struct cosy_loaded *loaded,
			     struct libcosy_activation *act)
{
	act->run.stack = 0;
	act->run.stack_size = 0;
	if (__builtin_expect(loaded->needs_stack, 0))
		stack_begin(thread, act);
	act->run.ctx = (u64)act->ctx;
	act->run.resume = 0;
	act->state.sp = 0;
	act->outer = thread->running;
	thread->running = act;
}

static void run_end(struct libcosy_thread *thread, struct libcosy_activation *act)
{
	thread->running = act->outer;
}

/* --- The interpreter's turns ------------------------------------------------------ */

/* True if it left for a watcher of calls, which is to see those that a native program makes. */
static bool run_is_watched(const struct libcosy_activation *act)
{
	return act->run.status == COSY_LEFT_FILTERED || act->run.status == COSY_LEFT_TRACED;
}

static enum cosy_status run_interpret(struct libcosy_thread *thread, struct cosy_loaded *loaded,
				      struct libcosy_activation *act, unsigned int stop,
				      bool limits, enum libcosy_interp_cancel cancel)
{
	const struct cosy_compound *header = loaded->container.header;
	struct libcosy_interp in = {
		.program = &loaded->program,
		.state = &act->state,
		.ctx = act->run.ctx,
		.stack = (u8 *)act->run.stack,
		.stack_size = act->run.stack_size,
		.resume = act->run.resume,
		.max_steps = limits ? header->max_steps : 0,
		.max_ns = limits ? header->max_kernel_ns : 0,
		.cancel = cancel,
		.watched = run_is_watched(act),
	};
	enum cosy_status status;

	act->run.status = INTERPRETED;
	status = libcosy_interp_run(&in, stop);
	act->run.resume = in.resume;
	act->run.ret = in.ret;
	act->run.status = status;
	thread->interp_calls += in.calls;
	libcosy_count(&libcosy_counts.interp_calls, in.calls);
	return status;
}

static enum libcosy_outcome run_interpret_to_end(struct libcosy_thread *thread,
						 struct cosy_loaded *loaded,
						 struct libcosy_activation *act, bool limits,
						 enum libcosy_interp_cancel cancel)
{
	return run_interpret(thread, loaded, act, 0, limits, cancel) == COSY_DONE ? COSY_RAN
										  : COSY_RAN_OUT;
}

/* --- The kernel's turns ------------------------------------------------------------- */

/*
 * Errors that mean RUN was not reached, whatever the status says: this process
 * has no such context any more, or a filter answered in the kernel's stead.
 * None is a result that an interrupted call comes back with.
 */
static bool run_not_reached(long err)
{
	return err == -EXDEV || err == -EBADF || err == -ENOTTY || err == -ENOENT ||
	       err == -EPERM || err == -EACCES || err == -ENOSYS;
}

/* Notes, after a RUN that did nothing, that the context is gone or that this thread may not RUN. */
static void run_give_up(struct libcosy_thread *thread, u32 generation, long err)
{
	if (err == -EXDEV || err == -EBADF || err == -ENOTTY || err == -ENOENT)
		libcosy_context_lost(generation);
	else if (err == -EPERM || err == -EACCES || err == -ENOSYS)
		libcosy_thread_filtered(thread);
}

static void run_traced(struct libcosy_thread *thread, u64 work)
{
	if (work & WORK_SECCOMP)
		libcosy_thread_filtered(thread);
	thread->next_pause = thread->next_pause ? thread->next_pause * 2 : 1;
	if (thread->next_pause > MAX_PAUSE)
		thread->next_pause = MAX_PAUSE;
	thread->pause = thread->next_pause;
}

/* Puts the result of an interrupted read or write into its composite, which still has to close. */
static void run_finish_part(u64 *r, s64 result)
{
	if (result > 0) {
		r[2] += result;
		r[3] += result;
		r[4] -= result;
		return;
	}
	if (result < 0)
		r[2] = result;
	r[4] = 0;
}

/* Does the same for an epoll_read: the result is that of the read of arrival r5. */
static void run_finish_arrival(u64 *r, long result)
{
	((struct cosy_arrival *)r[2])[(u32)r[5]].result = result;
	r[5]++;
}

/* Returns the operation that is under way with r5 as its mark, or 0. */
static u32 run_under_way(const struct cosy_validated *program, const struct libcosy_activation *act)
{
	if (!act->run.resume || !COSY_IS_UNDER_WAY(act->state.reg[5]))
		return 0;
	return program->insns[act->run.resume - 1].imm;
}

/* True if it is in the middle of a read_file or write_file, whose file is in r1. */
static bool run_is_in_file(const struct cosy_validated *program,
			   const struct libcosy_activation *act)
{
	u32 operation = run_under_way(program, act);

	return operation == COSY_OP_read_file || operation == COSY_OP_write_file;
}

/* Closes the file of an operation in whose middle a limit has ended the compound. */
static void run_left_over(const struct cosy_loaded *loaded, const struct libcosy_activation *act,
			  enum libcosy_outcome outcome)
{
	if (__builtin_expect(outcome == COSY_RAN_OUT, 0) && run_is_in_file(&loaded->program, act))
		cosy_syscall3(SYS_close, act->state.reg[1], 0, 0);
}

/* Puts RUN's result, which is that of an interrupted call, where the call would have put it. */
static void run_finish_call(const struct cosy_validated *program, struct libcosy_activation *act,
			    long result)
{
	u64 *r = act->state.reg;

	switch (run_under_way(program, act)) {
	case COSY_OP_read_file:
	case COSY_OP_write_file:
		run_finish_part(r, result);
		return;
	case COSY_OP_epoll_read:
		run_finish_arrival(r, result);
		return;
	}
	r[0] = result;
	memset(&r[1], 0, 5 * sizeof(r[1]));
	act->run.resume++;
}

/*
 * Calls RUN.  `type` is NULL unless the thread may be cancelled: then libc may do that at once,
 * and *type keeps the cancellation type that the program had set.
 */
static inline long run_turn(struct libcosy_thread *thread, struct libcosy_activation *act,
			    int *type)
{
	long err;

	act->run.status = NOT_RUN;
	act->run.interp_calls = thread->interp_calls;
	if (type)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, type);
	err = cosy_syscall3(SYS_ioctl, (unsigned int)act->fd, COSY_IOC_RUN,
			    (unsigned long)&act->run);
	if (type)
		pthread_setcanceltype(*type, NULL);
	return err;
}

static inline void run_count_turn(struct libcosy_thread *thread,
				  const struct libcosy_activation *act)
{
	thread->interp_calls -= act->run.interp_calls;
	if (__builtin_expect(libcosy_settings.stats, 0)) {
		libcosy_count(&libcosy_counts.runs,
			      act->run.status == COSY_DONE || act->run.resume);
		libcosy_count(&libcosy_counts.left[act->run.status & 15], 1);
	}
}

/* What follows a turn of the kernel's. */
enum run_step {
	STEP_KERNEL,	     /* another turn */
	STEP_INTERPRET,	     /* the interpreter's turn, up to where RUN may go on */
	STEP_INTERPRET_REST, /* the interpreter's, to the end */
	STEP_ENDED,
	STEP_NOTHING, /* nothing was done, and the native twin is to run */
	STEP_OUT,     /* a limit ends the compound */
};

/* After a turn that the kernel left without an end of it: `err` is its result. */
static enum run_step run_after_left(struct libcosy_thread *thread, struct cosy_loaded *loaded,
				    struct libcosy_activation *act, bool limits, long err)
{
	const enum run_step rest = act->run.resume ? STEP_INTERPRET_REST : STEP_NOTHING;

	switch (act->run.status) {
	case COSY_DONE:
		return STEP_ENDED;
	case COSY_LEFT_WORK:
		return STEP_KERNEL;
	case COSY_LEFT_CALL:
		run_finish_call(&loaded->program, act, err);
		return STEP_KERNEL;
	case COSY_LEFT_FILTERED:
		return libcosy_given_up(&loaded->balance) ? STEP_INTERPRET_REST : STEP_INTERPRET;
	case COSY_LEFT_FAULT:
	case COSY_LEFT_NATIVE:
		return STEP_INTERPRET;
	case COSY_LEFT_TRACED:
		run_traced(thread, act->run.detail);
		return rest;
	case COSY_LEFT_BUFFER:
		libcosy_context_buffer_gone();
		return rest;
	case COSY_ENDED_STEPS:
	case COSY_ENDED_TIME:
		return limits ? STEP_OUT : STEP_INTERPRET_REST;
	default: /* LEFT_STACK, LEFT_TRAP: the interpreter fails as native code does */
		return STEP_INTERPRET_REST;
	}
}

static enum run_step run_after(struct libcosy_thread *thread, struct cosy_loaded *loaded,
			       struct libcosy_activation *act, bool limits, long err)
{
	if (act->run.status == NOT_RUN ||
	    (act->run.status == COSY_LEFT_CALL && run_not_reached(err))) {
		run_give_up(thread, act->generation, err);
		return act->run.resume ? STEP_INTERPRET_REST : STEP_NOTHING;
	}
	run_count_turn(thread, act);
	libcosy_balance_add(loaded, act);
	return run_after_left(thread, loaded, act, limits, err);
}

/*
 * Goes on after a turn of the kernel's that did not end the compound; `err` is its result.  Six
 * arguments in registers: a struct of them would lie on the stack of libcosy_run_bound, and each
 * RUN would make room for it.
 */
__attribute__((noinline)) static enum libcosy_outcome run_go_on(struct libcosy_thread *thread,
								struct cosy_loaded *loaded,
								struct libcosy_activation *act,
								bool limits, long err, int *type)
{
	enum libcosy_interp_cancel cancel = type ? COSY_CANCEL_ACTS : COSY_CANCEL_IGNORED;

	for (;; err = run_turn(thread, act, type)) {
		switch (run_after(thread, loaded, act, limits, err)) {
		case STEP_KERNEL:
			break;
		case STEP_INTERPRET:
			if (run_interpret(thread, loaded, act, COSY_MARK_RESUME, limits, cancel) ==
			    COSY_DONE)
				return COSY_RAN;
			break;
		case STEP_INTERPRET_REST:
			return run_interpret_to_end(thread, loaded, act, limits, cancel);
		case STEP_ENDED:
			return COSY_RAN;
		case STEP_NOTHING:
			return COSY_RAN_NOTHING;
		case STEP_OUT:
			return COSY_RAN_OUT;
		}
	}
}

static inline enum libcosy_outcome run_in_kernel(struct libcosy_thread *thread,
						 struct cosy_loaded *loaded,
						 struct libcosy_activation *act, bool limits,
						 int *type)
{
	long err = run_turn(thread, act, type);

	if (__builtin_expect(act->run.status != COSY_DONE, 0))
		return run_go_on(thread, loaded, act, limits, err, type);
	run_count_turn(thread, act);
	if (__builtin_expect(loaded->balance.kept, 0))
		libcosy_balance_add(loaded, act);
	thread->next_pause = 0;
	return COSY_RAN;
}

enum libcosy_outcome libcosy_run_bound(struct libcosy_thread *thread, struct cosy_loaded *loaded,
				       struct libcosy_activation *act, bool limits)
{
	enum libcosy_outcome outcome;

	if (__builtin_expect(run_lacks_stack(thread, loaded, act), 0))
		return COSY_RAN_NOTHING;
	run_begin(thread, loaded, act);
	if (__builtin_expect(act->run.handle, 1))
		outcome = run_in_kernel(thread, loaded, act, limits, NULL);
	else
		outcome = run_interpret_to_end(thread, loaded, act, limits, COSY_CANCEL_IGNORED);
	run_left_over(loaded, act, outcome);
	run_end(thread, act);
	return outcome;
}

/* --- Threads that may be cancelled -------------------------------------------------------- */

struct cancellable {
	struct libcosy_thread *thread;
	struct cosy_loaded *loaded;
	struct libcosy_activation *act;
	bool limits;
	int type; /* the program's own cancellation type */
};

/*
 * True if the instruction before the one where it goes on is a cancellation point that a
 * signal has interrupted, of those that are not made again: libc acts on a cancellation when such a
 * call comes back.  One that has moved something gives its count, and the next point is where the
 * thread ends.  A call leaves nothing in r1-r5, which tells it from a jump to that place.
 */
static bool run_is_after_interrupted(const struct cosy_validated *program,
				     const struct libcosy_activation *act)
{
	const u64 *r = act->state.reg;
	const struct cosy_call *call;

	if (act->run.resume < 2 || (s64)r[0] != -EINTR || r[1] | r[2] | r[3] | r[4] | r[5])
		return false;
	call = libcosy_program_call(program, act->run.resume - 2);
	return call && call->flags & COSY_CALL_CANCELS;
}

/* True if the thread is at a place where libc might also have cancelled it. */
static bool run_at_cancellation_point(const struct cancellable *run)
{
	u32 status = run->act->run.status;

	/* Either an inner activation did it already, or the program may be cancelled anywhere. */
	if (!run->thread->cancels || run->type != PTHREAD_CANCEL_DEFERRED)
		return true;
	if (status == COSY_LEFT_WORK && run_is_after_interrupted(&run->loaded->program, run->act))
		return true;
	return status == INTERPRETED || status == COSY_DONE ||
	       (run->limits && (status == COSY_ENDED_STEPS || status == COSY_ENDED_TIME));
}

/*
 * libc calls this while the thread unwinds.  Its signal has ended RUN at any place; act->state
 * has all that the compound had done by then.
 */
static void run_cancelled(void *arg)
{
	struct cancellable *run = arg;

	if (!run_at_cancellation_point(run)) {
		run->thread->cancels = COSY_CANCELS_NEVER;
		run_interpret(run->thread, run->loaded, run->act, 0, run->limits,
			      COSY_CANCEL_STOPS);
		if (run->act->run.status != COSY_DONE &&
		    run_is_in_file(&run->loaded->program, run->act))
			cosy_syscall3(SYS_close, run->act->state.reg[1], 0, 0);
	}
	run->thread->cancels = COSY_CANCELS_NEVER;
	run_end(run->thread, run->act);
	libcosy_block_pop(run->act->ctx);
}

/* pthread_cleanup_push is a setjmp in C without exceptions, so this is out of line. */
enum libcosy_outcome libcosy_run_cancellable(struct libcosy_thread *thread,
					     struct cosy_loaded *loaded,
					     struct libcosy_activation *act, bool limits)
{
	struct cancellable run = {
		.thread = thread,
		.loaded = loaded,
		.act = act,
		.limits = limits,
		.type = PTHREAD_CANCEL_DEFERRED,
	};
	enum libcosy_outcome outcome;

	if (!loaded->cancels)
		return libcosy_run_bound(thread, loaded, act, limits);
	if (run_lacks_stack(thread, loaded, act))
		return COSY_RAN_NOTHING;
	run_begin(thread, loaded, act);
	pthread_cleanup_push(run_cancelled, &run);
	if (act->run.handle)
		outcome = run_in_kernel(thread, loaded, act, limits, &run.type);
	else
		outcome = run_interpret_to_end(thread, loaded, act, limits, COSY_CANCEL_ACTS);
	pthread_cleanup_pop(0);
	run_left_over(loaded, act, outcome);
	run_end(thread, act);
	return outcome;
}
