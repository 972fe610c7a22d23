// SPDX-License-Identifier: GPL-2.0
/*
 * limits.c - fuel, time, signals, task work, the processor's other users.
 *
 * A compound spends one fuel for each back edge, call and return and looks around when
 * it is out of fuel.  Limits that nobody set only bound the time in between.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include "compat/compat.h"
#include "context.h"
#include "fast/descriptor.h"
#include "fast/guard.h"
#include "load/program.h"
#include "run/limits.h"

static ulong max_ops;
module_param(max_ops, ulong, 0644);
MODULE_PARM_DESC(max_ops, "operations (calls, returns and back edges) after which a compound ends; 0 = no limit");

static ulong max_kernel_ms;
module_param(max_kernel_ms, ulong, 0644);
MODULE_PARM_DESC(max_kernel_ms, "milliseconds on the processor after which a compound ends; 0 = no limit");

/* Operations between two looks: some ten microseconds of the tightest loop. */
#define FUEL 4096u
#define LEAST_FUEL 16u

/* How long a compound may stay in the kernel while nothing is urgent. */
#define PATIENCE (HZ / 10)

static u64 smallest(u64 a, u64 b)
{
	return a && b ? min(a, b) : a + b;
}

/* A long program may do much between two back edges, so it gets fewer of them. */
u32 cosy_limits_fuel(u32 insn_cnt)
{
	return clamp(FUEL * 64 / insn_cnt, LEAST_FUEL, FUEL);
}

/*
 * The next portion; the one operation more than the limit finds it reached.  Where
 * there is an auditor, a compound whose calls sleep is to run out of patience soon.
 */
static u64 portion(const struct cosy_activation *run)
{
	u64 most = READ_ONCE(current_thread_info()->syscall_work) ? LEAST_FUEL : run->prog->fuel;

	if (!run->max_ops || run->max_ops - run->granted >= most)
		return most;
	return run->max_ops - run->granted + 1;
}

static void find_limits(struct cosy_activation *run, const struct cosy_context *context)
{
	const struct cosy_prog *prog = run->prog;

	run->max_ops = smallest(smallest(prog->max_ops, READ_ONCE(context->max_ops)),
				READ_ONCE(max_ops));
	run->max_ns = smallest(smallest(prog->max_ns, READ_ONCE(context->max_ns)),
			       (u64)READ_ONCE(max_kernel_ms) * NSEC_PER_MSEC);
}

void cosy_limits_start(struct cosy_activation *run, struct cosy_context *context, u64 ops, u64 ns)
{
	const struct cosy_prog *prog = run->prog;

	run->max_ops = 0;
	run->max_ns = 0;
	if (unlikely(prog->max_ops | prog->max_ns | READ_ONCE(context->max_ops) |
		     READ_ONCE(context->max_ns) | READ_ONCE(max_ops) | READ_ONCE(max_kernel_ms)))
		find_limits(run, context);
	/* The count comes from the user: it may only make the rest smaller. */
	run->granted = run->max_ops ? min(ops, run->max_ops) : ops;
	run->ns_before = ns;
	run->entry.fuel = portion(run);
	run->granted += run->entry.fuel;
	run->entered = jiffies;
	run->exec_start = current->se.sum_exec_runtime;
	if (run->max_ns)
		run->wall_start = ktime_get_ns();
}

/*
 * Kernel time of this RUN.  The scheduler's account leaves out sleeping but lags
 * by up to a tick, also at the start; the clock does not lag.  Neither is too
 * small by itself, so take the smaller.
 */
static u64 time_used(const struct cosy_activation *run)
{
	u64 executed = READ_ONCE(current->se.sum_exec_runtime) - run->exec_start;

	return run->max_ns ? min(executed, ktime_get_ns() - run->wall_start) : executed;
}

static bool time_is_up(const struct cosy_activation *run)
{
	return run->max_ns && run->ns_before + time_used(run) >= run->max_ns;
}

void cosy_limits_stop(struct cosy_activation *run)
{
	run->entry.state.ops = run->granted - run->entry.fuel;
	run->entry.state.kernel_ns = run->ns_before + time_used(run);
}

u32 cosy_work_due(struct cosy_activation *run)
{
	unsigned long flags;

	cond_resched();
	flags = READ_ONCE(current_thread_info()->flags) & COSY_EXIT_WORK;
	if (likely(!flags))
		return false;
	if (flags & ~_TIF_NOTIFY_RESUME)
		return true;
	/*
	 * What can wait would be asked for again at every call: it is put off to the end
	 * of this RUN.  Whoever adds work sets the flag after that, so it is looked for
	 * behind the clearing.
	 */
	clear_thread_flag(TIF_NOTIFY_RESUME);
	smp_mb__after_atomic();
	run->put_off = true;
	return cosy_resume_work();
}

/*
 * However long a compound runs, its thread is back in user mode now and then: for
 * what hides behind TIF_NOTIFY_RESUME, for an audit rule added meanwhile, which only
 * the next system call entry will see, for those who wait until every thread has
 * been in user mode (RCU tasks, live patches).
 */
static bool patience_is_over(const struct cosy_activation *run)
{
	return time_after(jiffies, run->entered + PATIENCE);
}

u32 cosy_tick(struct cosy_activation *run, u32 insn)
{
	u32 status = COSY_DONE;

	/* A limit first: what went on from here would be one operation over it. */
	if (run->max_ops && run->granted > run->max_ops)
		status = COSY_ENDED_OPS;
	else if (cosy_work_due(run) || patience_is_over(run))
		status = COSY_LEFT_WORK;
	else if (READ_ONCE(*run->gone))
		status = COSY_LEFT_BUFFER;
	else if (time_is_up(run))
		status = COSY_ENDED_TIME;
	if (status != COSY_DONE) {
		cosy_leave_at(run, status, insn, 0);
		return status;
	}
	if (run->held)
		cosy_settle(run);
	cosy_descriptors_forget(run);
	run->fresh[0] = run->fresh[1] = NULL;
	run->entry.fuel = portion(run);
	run->granted += run->entry.fuel;
	return 0;
}

bool cosy_limits_pause(struct cosy_activation *run, u32 insn, bool resumes)
{
	u32 status = COSY_DONE;

	cond_resched();
	if (fatal_signal_pending(current) || (resumes && (cosy_work_due(run) || patience_is_over(run))))
		status = COSY_LEFT_WORK;
	else if (!resumes && (signal_pending(current) || time_after(jiffies, run->entered + 10 * PATIENCE)))
		status = COSY_LEFT_FAULT; /* it cannot go on in the middle: the interpreter repeats it */
	else if (time_is_up(run))
		status = COSY_ENDED_TIME;
	if (status == COSY_DONE)
		return false;
	cosy_leave_at(run, status, insn, 0);
	return true;
}
