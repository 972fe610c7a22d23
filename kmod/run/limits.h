/* SPDX-License-Identifier: GPL-2.0 */
/* limits.h - limits and safepoints, which end or interrupt a compound while it runs. */
#ifndef COSY_LIMITS_H
#define COSY_LIMITS_H

#include <linux/audit.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "compat/compat.h"
#include "run/activation.h"
#include "run/filter.h"

/* Flags of a thread that are looked at after every call. */
#define COSY_CALL_WORK (COSY_EXIT_WORK | COSY_RESCHED)

/*
 * Returns the bits of syscall_work that stand for filters, tracers and auditors, 0 for none.
 * They sit in the entry code, which a compound's calls and a loan do not pass.  An audit context
 * that records nothing sees nothing either way; whether it records is decided at each entry, so
 * once for this RUN.
 */
static __always_inline unsigned long cosy_traced_work(void)
{
	unsigned long work = READ_ONCE(current_thread_info()->syscall_work);

	if (likely(!work))
		return 0;
	if (audit_dummy_context())
		work &= ~SYSCALL_WORK_SYSCALL_AUDIT;
	return work;
}

/* Ticks that a compound may stay in the kernel while nothing is urgent. */
#define COSY_MAX_STAY (HZ / 10)

/*
 * Returns whether the thread has been in the kernel so long that it must return to user mode for a
 * moment.  Three reasons: work deferred under TIF_NOTIFY_RESUME (cosy_resume_work); an audit rule
 * added meanwhile, which only the next entry of a system call sees; and kernel code that waits
 * until every thread has been in user mode (RCU tasks, live patches).
 */
static __always_inline bool cosy_stay_is_over(const struct cosy_activation *run)
{
	return time_after(jiffies, run->clock.entered + COSY_MAX_STAY);
}

/* Returns the steps between two safepoints of a program of `insn_cnt` instructions. */
u32 cosy_limits_fuel(u32 insn_cnt);

/*
 * Prepares fuel and clocks for a RUN whose compound has used `steps` and `ns` already.  A limit
 * is the smallest of the compound's, the context's and the administrator's.
 */
void cosy_limits_start(struct cosy_activation *run, struct cosy_context *context, u64 steps,
		       u64 ns);

/* Returns whether a compound that has used `ns` already may not go on. */
bool cosy_limits_reached(const struct cosy_program *prog, const struct cosy_context *context,
			 u64 ns);

/* Notes, after a leave, the steps and the time that the compound has used since its start. */
void cosy_limits_stop(struct cosy_activation *run);

/*
 * Does the work of a safepoint when fuel is out, before or after `insn`.  Returns 0 with new fuel
 * in run->entry.fuel, or non-zero: leave at `insn`, run->status says why.  Called by enter.S.
 */
u32 cosy_safepoint(struct cosy_activation *run, u32 insn);

/*
 * Lets others have the processor after a call, if they want it.  Returns COSY_DONE, or the
 * status with which the caller has to leave now.  Called by call.S.
 */
u32 cosy_safepoint_after(struct cosy_activation *run);

/* Slow path of cosy_between_calls. */
bool cosy_leave_between(struct cosy_activation *run, enum cosy_op op);

/*
 * Called before each call but the first of a composite that resumes.  True when the composite
 * has to leave before that call, with run->status set.
 */
static __always_inline bool cosy_between_calls(struct cosy_activation *run, enum cosy_op op)
{
	if (likely(!(READ_ONCE(task_thread_info(run->task)->flags) & COSY_CALL_WORK) &&
		   !cosy_is_watched(run) && !READ_ONCE(*run->attention)))
		return false;
	return cosy_leave_between(run, op);
}

/* Slow path of cosy_between_many_calls: the thread's stay is over. */
bool cosy_leave_stay(struct cosy_activation *run);

/*
 * Does the same as cosy_between_calls for a composite of any number of calls, which also leaves
 * when cosy_stay_is_over.
 */
static __always_inline bool cosy_between_many_calls(struct cosy_activation *run, enum cosy_op op)
{
	if (cosy_between_calls(run, op))
		return true;
	return unlikely(cosy_stay_is_over(run)) && cosy_leave_stay(run);
}

/*
 * Called now and then by long work within the instruction `insn`.  True when the work must stop,
 * with run->status set.  A kill and the time limit stop any work, signals only work that
 * `resumes` where it stopped.
 */
bool cosy_limits_pause(struct cosy_activation *run, u32 insn, bool resumes);

#endif /* COSY_LIMITS_H */
