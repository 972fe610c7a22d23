// SPDX-License-Identifier: GPL-2.0
/* fresh.c - see fresh.h. */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include "context.h"
#include "fast/fresh.h"

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
