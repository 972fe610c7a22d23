/* SPDX-License-Identifier: GPL-2.0 */
/* limits.h - what ends or interrupts a compound while it runs: limits and safepoints. */
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
 * Filters, tracers and auditors sit in the entry code that a compound's calls and a loan do not
 * pass.  An audit context that records nothing sees nothing either way; whether it records is
 * decided at each entry, so once for this RUN.  Which of them there are, 0 for none.
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

/* How long a compound may stay in the kernel while nothing is urgent. */
#define COSY_MAX_STAY (HZ / 10)

/*
 * However long a compound runs, its thread is back in user mode now and then: for
 * what hides behind TIF_NOTIFY_RESUME, for an audit rule added meanwhile, which only
 * the next system call entry will see, for those who wait until every thread has
 * been in user mode (RCU tasks, live patches).
 */
static __always_inline bool cosy_stay_is_over(const struct cosy_activation *run)
{
	return time_after(jiffies, run->entered + COSY_MAX_STAY);
}

/* Steps between two safepoints, for a program of so many instructions. */
u32 cosy_limits_fuel(u32 insn_cnt);

/*
 * Prepares fuel and clocks for a RUN that has used `steps` and `ns` already: the
 * smallest of the compound's, the context's and the administrator's limits.
 */
void cosy_limits_start(struct cosy_activation *run, struct cosy_context *context, u64 steps,
		       u64 ns);

/* Whether a compound that has used `ns` already may not go on. */
bool cosy_limits_reached(const struct cosy_prog *prog, const struct cosy_context *context, u64 ns);

/* After a leave: what has been used since the compound's start. */
void cosy_limits_stop(struct cosy_activation *run);

/*
 * Fuel is out, before or after `insn`.  0 with new fuel in run->entry.fuel, or
 * non-zero: leave at `insn`, run->status says why.  Called by enter.S.
 */
u32 cosy_safepoint(struct cosy_activation *run, u32 insn);

/*
 * After a call: lets others have the processor, if they want it.  COSY_DONE, or why it
 * has to leave now, which the caller has to do.  Called by call.S.
 */
u32 cosy_safepoint_poll(struct cosy_activation *run);

/* cosy_between_calls where there is something to look at. */
bool cosy_leave_between(struct cosy_activation *run, enum cosy_op op);

/*
 * Before each call but the first of a composite that resumes: true when it has to leave
 * before that, with run->status set.
 */
static __always_inline bool cosy_between_calls(struct cosy_activation *run, enum cosy_op op)
{
	if (likely(!(READ_ONCE(task_thread_info(run->task)->flags) & COSY_CALL_WORK) &&
		   !cosy_is_watched(run) && !READ_ONCE(*run->look)))
		return false;
	return cosy_leave_between(run, op);
}

/*
 * For long work within the instruction `insn`, now and then: true when it must
 * stop, with run->status set.  Death and the time limit stop anything, signals
 * only what `resumes` where it stopped.
 */
bool cosy_limits_pause(struct cosy_activation *run, u32 insn, bool resumes);

#endif /* COSY_LIMITS_H */
