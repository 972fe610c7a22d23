// SPDX-License-Identifier: GPL-2.0
/* fast.c - which specialised version is whose, and the ordinary way. */
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/unistd.h>
#include "context.h"
#include "dispatch.h"
#include "fast.h"
#include "stats.h"

s64 cosy_replug(struct cosy_activation *run, enum cosy_guard guard)
{
	cosy_stats_add(&run->context->stats, COSY_COUNT_REPLUGS + guard, 1);
	return COSY_ORDINARY;
}

void cosy_settle(struct cosy_activation *run)
{
	run->held = 0;
}

s64 cosy_call_result(struct cosy_activation *run, s64 result)
{
	if (likely(result > -512 || result < -516 || result == -515))
		return result;
	run->code = result;
	cosy_leave_at(run, COSY_LEFT_CALL, run->insn, 0);
	return result;
}

s64 cosy_ordinary(struct cosy_activation *run, u32 number, u64 a, u64 b, u64 c, u64 d)
{
	struct pt_regs regs = { .di = a, .si = b, .dx = c, .r10 = d };
	s64 result;

	if (run->held)
		cosy_settle(run);
	result = static_call(cosy_dispatch)(&regs, number);
	if (run->unfresh) {
		if (result >= 0) {
			run->fresh[1] = run->fresh[0];
			run->fresh[0] = run->unfresh;
		}
		run->unfresh = NULL;
	}
	return cosy_call_result(run, result);
}

u64 cosy_ask_pid(struct cosy_activation *run)
{
	run->pid = task_tgid_vnr(current);
	return run->pid;
}

static s64 specialised(struct cosy_activation *run, const u64 *r, u32 number)
{
	switch (number) {
	case __NR_gettid:
		return task_pid_vnr(current);
	default:
		return COSY_ORDINARY;
	}
}

static s64 operation(struct cosy_activation *run, u64 *r, u32 number)
{
	switch (COSY_OP_BASE + number) {
	case COSY_OP_view_read:
		return cosy_ordinary(run, __NR_read, r[1], r[2], r[3], 0);
	case COSY_OP_view_pread:
		return cosy_ordinary(run, __NR_pread64, r[1], r[2], r[3], r[4]);
	default:
		/* The validator knows no other. */
		cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
		return 0;
	}
}

u64 cosy_fast(struct cosy_activation *run, u64 *r, u32 word)
{
	u32 number = word & 0xffff;
	s64 result;

	run->insn = word >> 16;
	if (number & COSY_FAST_OP)
		return operation(run, r, number & ~COSY_FAST_OP);
	result = specialised(run, r, number);
	if (likely(result != COSY_ORDINARY)) {
		run->fast++;
		return result;
	}
	return cosy_ordinary(run, number, r[1], r[2], r[3], r[4]);
}
