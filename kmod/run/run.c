// SPDX-License-Identifier: GPL-2.0
/*
 * run.c - RUN: from the ioctl into the compiled code and back.
 *
 * Entry and exit are short on purpose: an empty compound should cost little more than an empty
 * ioctl. leave.c does the rare work (resuming from saved state, leaving).
 */
#include <linux/audit.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>
#include "compat/compat.h"
#include "context.h"
#include "fast/child.h"
#include "fast/descriptor.h"
#include "fast/folio_cursor.h"
#include "fast/fresh.h"
#include "fast/guard.h"
#include "fast/prefix.h"
#include "load/recall.h"
#include "load/program.h"
#include "memory/access.h"
#include "memory/memory.h"
#include "run/filter.h"
#include "run/frame.h"
#include "run/held.h"
#include "run/leave.h"
#include "run/limits.h"
#include "run/run.h"
#include "run/thunk.h"
#include "stats.h"
#include "trace.h"
#include "view/view.h"

/* --- Running tasks: a compound's system calls may not RUN again --------------------- */

#define RUNNING_BITS 8

/* The tasks in the middle of a compound that makes ioctls, since only such a one can call RUN. */
static struct running {
	spinlock_t lock;
	struct hlist_head tasks; /* struct cosy_activation; lock */
} running[1 << RUNNING_BITS] = {
	[0 ...(1 << RUNNING_BITS) - 1] = { .lock = __SPIN_LOCK_UNLOCKED(running.lock) },
};

static struct running *running_of_task(void)
{
	return &running[hash_ptr(current, RUNNING_BITS)];
}

static bool running_has_task(void)
{
	struct running *bucket = running_of_task();
	struct cosy_activation *other;
	bool found = false;

	/* Only the task itself adds its entry, so an unlocked empty test cannot miss it. */
	if (likely(hlist_empty(&bucket->tasks)))
		return false;
	spin_lock(&bucket->lock);
	hlist_for_each_entry(other, &bucket->tasks, node) {
		if (other->task == current)
			found = true;
	}
	spin_unlock(&bucket->lock);
	return found;
}

static u64 running_enter(struct cosy_activation *run)
{
	struct running *bucket = running_of_task();
	u64 result;

	spin_lock(&bucket->lock);
	hlist_add_head(&run->node, &bucket->tasks);
	spin_unlock(&bucket->lock);

	result = cosy_enter(run->prog->code, run);

	spin_lock(&bucket->lock);
	hlist_del(&run->node);
	spin_unlock(&bucket->lock);
	return result;
}

/* --- The argument -------------------------------------------------------------------- */

/* Bytes of an argument that does not ask how many calls were made. */
#define MIN_RUN_SIZE offsetof(struct cosy_run, calls)

/*
 * Reads an argument of one of the two sizes that there have been.  0, an error, or 1: the size is
 * another one, for argument_get_other.
 */
static int argument_get(struct cosy_run *argument, const struct cosy_run __user *from)
{
	const struct cosy_run *at = (const void __force *)from;
	int fault = 0;
	u64 word;

	if (!user_read_access_begin(from, sizeof(*from)))
		return -EFAULT;
	/*
	 * A word holds two fields of 32 bits.  The other one in the word of `resume` is `status`,
	 * an answer.
	 */
	word = cosy_peek_word(&at->size, &fault);
	argument->size = word;
	argument->handle = word >> 32;
	argument->ctx = cosy_peek_word(&at->ctx, &fault);
	argument->state = cosy_peek_word(&at->state, &fault);
	argument->stack = cosy_peek_word(&at->stack, &fault);
	argument->stack_size = cosy_peek_word(&at->stack_size, &fault);
	argument->resume = cosy_peek_word(&at->resume, &fault);
	argument->interp_calls = cosy_peek_word(&at->interp_calls, &fault);
	user_read_access_end();
	if (unlikely(fault))
		return -EFAULT;
	if (likely(argument->size == MIN_RUN_SIZE || argument->size == sizeof(*argument)))
		return 0;
	return argument->size < MIN_RUN_SIZE ? -EINVAL : 1;
}

/* Reads an argument of another size: from a library newer than this module.  Its tail must be 0. */
static int argument_get_other(struct cosy_run *argument, const struct cosy_run __user *from)
{
	u32 size = argument->size;
	int error;

	if (size > PAGE_SIZE)
		return -E2BIG;
	error = copy_struct_from_user(argument, sizeof(*argument), from, size);
	argument->size = size;
	return error;
}

/* Holds the answer of RUN. */
struct run_answer {
	u32 resume, status;
	s64 ret;
	u64 detail, calls, fast;
};

static __always_inline int argument_put(struct cosy_run __user *to, const struct cosy_run *argument,
					struct run_answer answer)
{
	if (!user_write_access_begin(to, sizeof(*to)))
		return -EFAULT;
	unsafe_put_user(answer.resume, &to->resume, fault);
	unsafe_put_user(answer.status, &to->status, fault);
	unsafe_put_user(answer.ret, &to->ret, fault);
	unsafe_put_user(answer.detail, &to->detail, fault);
	if (unlikely(argument->size >= sizeof(*argument))) {
		unsafe_put_user(answer.calls, &to->calls, fault);
		unsafe_put_user(answer.fast, &to->fast, fault);
	}
	user_write_access_end();
	return 0;

fault:
	user_write_access_end();
	return -EFAULT;
}

/* --- Running ---------------------------------------------------------------------------- */

/*
 * Returns the bits of syscall_work that forbid this RUN.  Filters that let every RUN through do
 * not: they are asked at each call.
 */
static unsigned long run_tracers(void)
{
	unsigned long work = cosy_traced_work();

	if (unlikely(work) && cosy_filter_allows(__NR_ioctl))
		work &= ~SYSCALL_WORK_SECCOMP;
	return work;
}

/* Tells why nothing was run, as if the compound had left where it was to start. */
static long run_refuse(struct cosy_context *context, struct cosy_run __user *user,
		       const struct cosy_run *argument, u32 status, u64 detail)
{
	cosy_stats_add(&context->stats, COSY_COUNT_LEFT + status, 1);
	return argument_put(user, argument,
			    (struct run_answer){ .resume = argument->resume,
						 .status = status,
						 .detail = detail });
}

/* Gives the user the state of a compound that has left. */
static long run_leave(struct cosy_activation *run, struct cosy_run __user *user,
		      const struct cosy_run *argument)
{
	int error;

	/* The process ends on its way out; nobody will read anything. */
	if (fatal_signal_pending(current))
		return -EINTR;
	cosy_leave_filtered(run);
	error = cosy_leave_save(run, u64_to_user_ptr(argument->state));
	if (!error)
		error = argument_put(user, argument,
				     (struct run_answer){ .resume = run->insn + 1,
							  .status = run->status,
							  .detail = run->detail,
							  .calls = run->calls,
							  .fast = run->fast });
	if (error)
		return error;
	return run->status == COSY_LEFT_CALL ? run->code : 0;
}

static void run_count(struct cosy_context *context, const struct cosy_activation *run)
{
	cosy_stats_add(&context->stats, COSY_COUNT_RUNS, 1);
	if (run->calls)
		cosy_stats_add(&context->stats, COSY_COUNT_CALLS, run->calls);
	if (run->fast)
		cosy_stats_add(&context->stats, COSY_COUNT_FAST, run->fast);
	if (run->progress.ops)
		cosy_stats_add(&context->stats, COSY_COUNT_OPS, run->progress.ops);
	cosy_stats_add(&context->stats, COSY_COUNT_LEFT + run->status, 1);
}

/* Fills in an activation, except the parts that a resume restores. */
static __always_inline void activation_init(struct cosy_activation *run,
					    struct cosy_context *context, struct cosy_program *prog,
					    const struct cosy_run *argument)
{
	static_assert(offsetof(struct cosy_activation, entry) == 0);
	run->prog = prog;
	run->context = context;
	run->task = current;
	run->base = prog->buffer;
	run->entry.origin = 0 - prog->buffer_address;
	run->frame_words = prog->frame_words;
	run->calls = 0;
	run->fast = 0;
	run->pid = 0;
	run->held = 0;
	cosy_cursors_init(&run->cursors);
	cosy_descriptors_init(&run->descriptors);
	run->put_off = false;
	run->views = NULL;
	cosy_fresh_init(&run->fresh, &context->fresh);
	cosy_names_init(&run->names);
	cosy_progress_init(&run->progress);
	run->status = COSY_DONE;
	run->insn = 0;
	run->detail = 0;
	run->ctx = argument->ctx;
	run->stack = u64_to_user_ptr(argument->stack);
	run->stack_size = argument->stack_size;
	run->entry.resume = argument->resume;
}

static long run_program(struct cosy_context *context, struct cosy_program *prog,
			struct cosy_run __user *user, const struct cosy_run *argument)
{
	struct cosy_activation run __cosy_uninitialized;
	u64 steps = 0, ns = 0, result;
	int error;

	activation_init(&run, context, prog, argument);
	if (likely(!argument->resume)) {
		/* The program zeroes its other registers and its spill frame itself. */
		run.entry.state.reg[1] = argument->ctx;
		run.sp = 0;
		run.fp = COSY_NO_FRAME;
	} else {
		error = cosy_leave_restore(&run, u64_to_user_ptr(argument->state), &steps, &ns);
		if (error)
			return error;
		/*
		 * A compound that leaves before its fuel is out never comes to a safepoint,
		 * however often it goes on, so its time is looked at here.
		 */
		if (unlikely(cosy_limits_reached(prog, context, ns)))
			return run_refuse(context, user, argument, COSY_ENDED_TIME, 0);
	}
	if (unlikely(running_has_task()))
		return -ELOOP;
	cosy_limits_start(&run, context, steps, ns);

	if (unlikely(prog->may_nest))
		result = running_enter(&run);
	else
		result = cosy_enter(prog->code, &run);
	if (unlikely(run.put_off))
		set_thread_flag(TIF_NOTIFY_RESUME);
	if (run.held)
		cosy_held_drop(&run);
	if (run.views)
		cosy_views_free(&run);
	if (run.names.prefixes)
		cosy_prefixes_free(&run);

	run_count(context, &run);
	if (prog->followed)
		cosy_followed_count(prog->followed, run.calls);
	trace_cosy_run(argument->handle, run.status, run.insn, run.calls);
	if (unlikely(run.status != COSY_DONE))
		return run_leave(&run, user, argument);
	return argument_put(
		user, argument,
		(struct run_answer){
			.ret = result, .status = COSY_DONE, .calls = run.calls, .fast = run.fast });
}

static long run_argument(struct cosy_context *context, struct cosy_run __user *user,
			 const struct cosy_run *argument)
{
	struct cosy_program *prog;
	unsigned long work;
	long result;

	if (argument->interp_calls)
		cosy_stats_add(&context->stats, COSY_COUNT_INTERP_CALLS, argument->interp_calls);
	if (argument->stack % 16 ||
	    !access_ok(u64_to_user_ptr(argument->stack), argument->stack_size))
		return -EINVAL;
	prog = cosy_program_get(context, argument->handle);
	if (!prog)
		return -ENOENT;
	work = run_tracers();
	if (argument->resume && !cosy_program_resumes(prog, argument->resume))
		result = -EINVAL;
	else if (unlikely(work))
		result = run_refuse(context, user, argument, COSY_LEFT_TRACED, work);
	else if (unlikely(READ_ONCE(*prog->gone)))
		result = run_refuse(context, user, argument, COSY_LEFT_BUFFER, 0);
	else
		result = run_program(context, prog, user, argument);
	cosy_program_put(prog);
	return result;
}

long cosy_run_ioctl(struct file *file, struct cosy_context *context, void __user *user)
{
	struct cosy_run argument __cosy_uninitialized;
	long result;

	if (unlikely(current->mm != context->mm))
		return -EXDEV;
	result = argument_get(&argument, user);
	if (unlikely(result > 0))
		result = argument_get_other(&argument, user);
	if (unlikely(result))
		return result;
	/* The compound may close the descriptor, or another thread may. */
	get_file(file);
	result = run_argument(context, user, &argument);
	fput(file);
	return result;
}
