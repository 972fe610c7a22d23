// SPDX-License-Identifier: GPL-2.0
/* guard.c - counts a failed guard. */
#include "context.h"
#include "fast/guard.h"
#include "stats.h"

s64 cosy_guard_failed(struct cosy_activation *run, enum cosy_guard guard)
{
	cosy_stats_add(&run->context->stats, COSY_COUNT_GUARD_FAILED + guard, 1);
	return COSY_ORDINARY;
}
