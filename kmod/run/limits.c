// SPDX-License-Identifier: GPL-2.0
/*
 * limits.c - fuel, time, signals, task work, and yielding the processor.
 *
 * A compound spends one fuel for each back edge, call and return; without fuel it is at a
 * safepoint.  Default limits only bound the time in between.
 *
 * Fuel does not bound time: one call may take seconds, and a compound that leaves gets new fuel
 * when it continues.  So under a time limit safepoints are closer together, and the time is also
 * checked after every call (run->attention makes call.S check) and at each resume.  Between calls
 * no page fault is served (faults_refuse).  A compound exceeds the limit by one call at most, or by
 * some thousand instructions.
 *
 * The steps and the time of earlier RUNs come from user memory.  A process that forges them gains a
 * new start, which it may have at any time: no single RUN exceeds a limit.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/time.h>
#include <linux/unistd.h>
#include "compat/compat.h"
#include "context.h"
#include "fast/descriptor.h"
#include "fast/fresh.h"
#include "fast/guard.h"
#include "load/program.h"
#include "run/dispatch.h"
#include "run/held.h"
#include "run/limits.h"

static ulong max_steps;
module_param(max_steps, ulong, 0644);
MODULE_PARM_DESC(max_steps,
		 "steps (calls, returns and back edges) after which a compound ends; 0 = no limit");

static ulong max_kernel_ms;
module_param(max_kernel_ms, ulong, 0644);
MODULE_PARM_DESC(max_kernel_ms,
		 "milliseconds on the processor after which a compound ends; 0 = no limit");

/* Steps between two safepoints: some ten microseconds of the tightest loop. */
#define FUEL	 4096u
#define MIN_FUEL 16u

/* Instructions of the longest program that gets all of FUEL. */
#define FUEL_INSNS 64u

/* Steps, and instructions, between two safepoints where time is limited. */
#define TIMED_FUEL  64u
#define TIMED_INSNS 4096u

/*
 * COSY_MAX_STAY of an instruction that cannot continue from its middle: its work so far is lost
 * when it leaves, so it gets more time to end.
 */
#define MAX_UNRESUMABLE_STAY (10 * COSY_MAX_STAY)

/* Makes call.S ask for a safepoint after every call. */
static const bool always_attend = true;

static u64 limit_smaller(u64 a, u64 b)
{
	return a && b ? min(a, b) : a + b;
}

/* Gives a long program less fuel, since it may do much between two back edges. */
u32 cosy_limits_fuel(u32 insn_cnt)
{
	return clamp(FUEL * FUEL_INSNS / insn_cnt, MIN_FUEL, FUEL);
}

/*
 * Returns the budget where nothing is limited.  Under an audit context it is small, so that a
 * compound whose calls sleep soon finds that COSY_MAX_STAY is over.
 */
static __always_inline u64 fuel_budget(const struct cosy_activation *run)
{
	if (unlikely(READ_ONCE(current_thread_info()->syscall_work) & SYSCALL_WORK_SYSCALL_AUDIT))
		return MIN_FUEL;
	return run->prog->fuel;
}

/* Returns the budget under a limit: one step more than is left, which finds the limit reached. */
static u64 fuel_budget_limited(const struct cosy_activation *run)
{
	u64 max = fuel_budget(run);

	if (run->clock.max_ns)
		max = min_t(u64, max, clamp(TIMED_INSNS / run->prog->insn_cnt, 1u, TIMED_FUEL));
	if (!run->clock.max_steps || run->clock.max_steps - run->clock.granted >= max)
		return max;
	return run->clock.max_steps - run->clock.granted + 1;
}

static __always_inline void fuel_grant(struct cosy_activation *run, u64 fuel)
{
	run->entry.fuel = fuel;
	run->clock.granted += fuel;
}

/* --- Time ----------------------------------------------------------------------------- */

static u64 limit_of_time(const struct cosy_program *prog, const struct cosy_context *context)
{
	return limit_smaller(limit_smaller(prog->max_ns, READ_ONCE(context->max_ns)),
			     (u64)READ_ONCE(max_kernel_ms) * NSEC_PER_MSEC);
}

/*
 * Returns the thread's time on the processor, which leaves out sleeping.  The scheduler's
 * account of it lags by up to a tick; asking for the thread's clock brings it up to date.  The
 * answer of that call is not needed, so it is given an address where no user has memory.
 */
static noinline u64 processor_time(void)
{
	const struct pt_regs regs = { .di = CLOCK_THREAD_CPUTIME_ID, .si = ~0ul };

	static_call(cosy_dispatch)(&regs, __NR_clock_gettime);
	return READ_ONCE(current->se.sum_exec_runtime);
}

static unsigned long task_switches(void)
{
	return current->nvcsw + current->nivcsw;
}

/*
 * Returns the time that this RUN has used; without a limit of time, up to the clock's last tick.
 * A thread that has not left the processor has used all the time that has passed, whatever the
 * scheduler's clock says, which may stand still for a tick.  One that has left it has used 1 ns
 * at least.
 */
static u64 time_used(const struct cosy_clock *clock)
{
	if (!clock->max_ns)
		return READ_ONCE(current->se.sum_exec_runtime) - clock->exec_start;
	if (task_switches() == clock->switches)
		return ktime_get_ns() - clock->wall_start;
	return max(processor_time() - clock->exec_start, 1ull);
}

static bool time_is_up_limited(struct cosy_clock *clock)
{
	u64 now = ktime_get_ns(), used;

	/* The time used is at most the time that has passed. */
	if (likely(now < clock->next_check))
		return false;
	used = clock->ns_before + time_used(clock);
	if (used >= clock->max_ns)
		return true;
	clock->next_check = now + (clock->max_ns - used);
	return false;
}

static __always_inline bool time_is_up(struct cosy_activation *run)
{
	return unlikely(run->clock.max_ns) && time_is_up_limited(&run->clock);
}

/*
 * Has no page fault served until cosy_faults_allow: one may take as long as a call, where a huge
 * page is to be made, and any instruction may be an access that faults.
 */
static void faults_refuse(struct cosy_activation *run)
{
	pagefault_disable();
	run->held |= COSY_HELD_FAULTS;
}

/* --- The start and the end of a RUN ------------------------------------------------------ */

static noinline void limits_start(struct cosy_activation *run, const struct cosy_context *context)
{
	const struct cosy_program *prog = run->prog;

	run->clock.max_steps =
		limit_smaller(limit_smaller(prog->max_steps, READ_ONCE(context->max_steps)),
			      READ_ONCE(max_steps));
	run->clock.max_ns = limit_of_time(prog, context);
	/* The counts come from the user: they may only make the rest smaller. */
	if (run->clock.max_steps)
		run->clock.granted = min(run->clock.granted, run->clock.max_steps);
	if (run->clock.max_ns) {
		run->attention = &always_attend;
		run->clock.ns_before = min(run->clock.ns_before, run->clock.max_ns);
		run->clock.switches = task_switches();
		run->clock.exec_start = processor_time();
		run->clock.wall_start = ktime_get_ns();
		run->clock.next_check =
			run->clock.wall_start + (run->clock.max_ns - run->clock.ns_before);
		faults_refuse(run);
	}
	fuel_grant(run, fuel_budget_limited(run));
}

void cosy_limits_start(struct cosy_activation *run, struct cosy_context *context, u64 steps, u64 ns)
{
	const struct cosy_program *prog = run->prog;

	run->clock.max_steps = 0;
	run->clock.max_ns = 0;
	run->attention = prog->gone;
	run->clock.granted = steps;
	run->clock.ns_before = ns;
	run->clock.entered = jiffies;
	run->clock.exec_start = READ_ONCE(current->se.sum_exec_runtime);
	if (unlikely(prog->max_steps | prog->max_ns | READ_ONCE(context->max_steps) |
		     READ_ONCE(context->max_ns) | READ_ONCE(max_steps) | READ_ONCE(max_kernel_ms)))
		limits_start(run, context);
	else
		fuel_grant(run, fuel_budget(run));
}

bool cosy_limits_reached(const struct cosy_program *prog, const struct cosy_context *context,
			 u64 ns)
{
	u64 max_ns = limit_of_time(prog, context);

	return max_ns && ns >= max_ns;
}

void cosy_limits_stop(struct cosy_activation *run)
{
	run->entry.state.steps = run->clock.granted - run->entry.fuel;
	run->entry.state.kernel_ns = run->clock.ns_before + time_used(&run->clock);
}

/* --- Safepoints ---------------------------------------------------------------------------- */

/*
 * Lets others have the processor, if they want it; then tells whether the thread has to go back
 * to user mode now.
 */
static bool work_due(struct cosy_activation *run)
{
	unsigned long flags;

	cond_resched();
	flags = READ_ONCE(current_thread_info()->flags) & COSY_EXIT_WORK;
	if (likely(!flags))
		return false;
	if (flags & ~_TIF_NOTIFY_RESUME)
		return true;
	/*
	 * While the flag is set, every call would come here.  So clear it until the end of this
	 * RUN, unless there is work that cannot wait.  Look for that after clearing, since work is
	 * added before the flag is set.
	 */
	clear_thread_flag(TIF_NOTIFY_RESUME);
	smp_mb__after_atomic();
	run->put_off = true;
	return cosy_resume_work();
}

static u32 safepoint_poll(struct cosy_activation *run)
{
	if (time_is_up(run))
		return COSY_ENDED_TIME;
	if (work_due(run))
		return COSY_LEFT_WORK;
	if (READ_ONCE(*run->prog->gone))
		return COSY_LEFT_BUFFER;
	return COSY_DONE;
}

u32 cosy_safepoint_after(struct cosy_activation *run)
{
	u32 status;

	cosy_faults_allow(run);
	status = safepoint_poll(run);
	if (status == COSY_DONE && run->clock.max_ns)
		faults_refuse(run);
	return status;
}

bool cosy_leave_between(struct cosy_activation *run, enum cosy_op op)
{
	u32 status = safepoint_poll(run);

	/* The filters come last: the poll may let other threads run, which may install one. */
	if (status == COSY_DONE)
		return cosy_leave_watched(run, run->insn << 16 | (op - COSY_OP_BASE), COSY_OP_BASE);
	cosy_leave_at(run, status, run->insn, 0);
	return true;
}

bool cosy_leave_stay(struct cosy_activation *run)
{
	cosy_leave_at(run, COSY_LEFT_WORK, run->insn, 0);
	return true;
}

u32 cosy_safepoint(struct cosy_activation *run, u32 insn)
{
	u32 status;

	cosy_faults_allow(run);
	/* The limit comes first: going on from here would be one step over it. */
	if (run->clock.max_steps && run->clock.granted > run->clock.max_steps)
		status = COSY_ENDED_STEPS;
	else
		status = safepoint_poll(run);
	if (status == COSY_DONE && cosy_stay_is_over(run))
		status = COSY_LEFT_WORK;
	if (status != COSY_DONE) {
		cosy_leave_at(run, status, insn, 0);
		return status;
	}
	if (run->held)
		cosy_held_drop(run);
	cosy_descriptors_forget(&run->descriptors);
	cosy_fresh_forget(&run->fresh);
	fuel_grant(run, run->clock.max_steps | run->clock.max_ns ? fuel_budget_limited(run)
								 : fuel_budget(run));
	if (run->clock.max_ns)
		faults_refuse(run);
	return 0;
}

bool cosy_limits_pause(struct cosy_activation *run, u32 insn, bool resumes)
{
	bool refused = run->held & COSY_HELD_FAULTS;
	u32 status = COSY_DONE;

	cosy_faults_allow(run);
	if (time_is_up(run))
		status = COSY_ENDED_TIME;
	else if (fatal_signal_pending(current))
		status = COSY_LEFT_WORK;
	else if (resumes && (work_due(run) || cosy_stay_is_over(run)))
		status = COSY_LEFT_WORK;
	else if (!resumes && (signal_pending(current) ||
			      time_after(jiffies, run->clock.entered + MAX_UNRESUMABLE_STAY)))
		status = COSY_LEFT_NATIVE; /* the instruction cannot go on from its middle */
	cond_resched();
	if (status != COSY_DONE) {
		cosy_leave_at(run, status, insn, 0);
		return true;
	}
	if (refused)
		faults_refuse(run);
	return false;
}
