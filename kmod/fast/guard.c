// SPDX-License-Identifier: GPL-2.0
/* guard.c - counts a failed guard and makes the kernel's own call. */
#include <linux/jiffies.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include "context.h"
#include "fast/descriptor.h"
#include "fast/folio_cursor.h"
#include "fast/guard.h"
#include "fast/lookup.h"
#include "run/dispatch.h"
#include "stats.h"
#include "view/view.h"

s64 cosy_guard_failed(struct cosy_activation *run, enum cosy_guard guard)
{
	cosy_stats_add(&run->context->stats, COSY_COUNT_GUARD_FAILED + guard, 1);
	return COSY_ORDINARY;
}

void cosy_fresh_init(struct cosy_activation *run)
{
	struct cosy_context *context = run->context;
	bool still = READ_ONCE(context->fresh_in) == jiffies;

	run->fresh[0] = still ? READ_ONCE(context->fresh[0]) : NULL;
	run->fresh[1] = still ? READ_ONCE(context->fresh[1]) : NULL;
	run->fresh_to_write = still ? READ_ONCE(context->fresh_to_write) : NULL;
	run->unfresh = NULL;
	run->unfresh_to_write = false;
	run->sleeps = current->nvcsw;
}

void cosy_fresh_forget(struct cosy_activation *run)
{
	run->fresh[0] = run->fresh[1] = run->fresh_to_write = NULL;
	run->sleeps = current->nvcsw;
}

static void fresh_add(struct cosy_activation *run)
{
	struct cosy_context *context = run->context;
	bool still = READ_ONCE(context->fresh_in) == jiffies;

	if (run->sleeps != current->nvcsw)
		cosy_fresh_forget(run);
	if (run->unfresh_to_write) {
		run->fresh_to_write = run->unfresh;
		WRITE_ONCE(context->fresh_to_write, run->unfresh);
	} else if (!still) {
		WRITE_ONCE(context->fresh_to_write, NULL);
	}
	run->fresh[1] = run->fresh[0];
	run->fresh[0] = run->unfresh;
	WRITE_ONCE(context->fresh[1], still ? READ_ONCE(context->fresh[0]) : NULL);
	WRITE_ONCE(context->fresh[0], run->unfresh);
	WRITE_ONCE(context->fresh_in, jiffies);
}

void cosy_fresh_end(struct cosy_activation *run, s64 result)
{
	if (result >= 0)
		fresh_add(run);
	run->unfresh = NULL;
	run->unfresh_to_write = false;
}

void cosy_held_drop(struct cosy_activation *run)
{
	cosy_faults_allow(run);
	cosy_views_write_back(run);
	cosy_cursors_drop(run);
	cosy_child_drop(run);
	cosy_prefix_drop(run);
	cosy_pwd_drop(run);
	cosy_root_drop(run);
	run->held &= ~COSY_HELD_AGREED;
}

s64 cosy_ordinary_regs(struct cosy_activation *run, u32 number, const struct pt_regs *regs)
{
	s64 result;

	if (run->held)
		cosy_held_drop(run);
	cosy_descriptors_forget(run);
	result = static_call(cosy_dispatch)(regs, number);
	if (run->unfresh)
		cosy_fresh_end(run, result);
	return cosy_call_result(run, result);
}

s64 cosy_ordinary(struct cosy_activation *run, u32 number, u64 a, u64 b, u64 c, u64 d)
{
	return cosy_ordinary_regs(run, number,
				  &(struct pt_regs){ .di = a, .si = b, .dx = c, .r10 = d });
}
