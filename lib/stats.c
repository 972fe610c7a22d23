// SPDX-License-Identifier: MIT
/* stats.c - see stats.h. */
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "stats.h"

struct cosy_counts cosy_counts;

void cosy_counts_reset(void)
{
	memset(&cosy_counts, 0, sizeof(cosy_counts));
}

static const char *const left_names[] = {
	[COSY_DONE] = "done",	     [COSY_LEFT_WORK] = "work",	    [COSY_LEFT_CALL] = "call",
	[COSY_LEFT_FAULT] = "fault", [COSY_LEFT_TRACED] = "traced", [COSY_LEFT_BUFFER] = "buffer",
	[COSY_LEFT_STACK] = "stack", [COSY_LEFT_TRAP] = "trap",	    [COSY_ENDED_OPS] = "ops",
	[COSY_ENDED_TIME] = "time",
};

__attribute__((destructor)) static void stats_print(void)
{
	const struct cosy_counts *c = &cosy_counts;
	struct cosy_stats kernel = {.size = sizeof(kernel)};
	char line[400];
	int n;

	if (!cosy_settings.stats)
		return;
	cosy_context_stats(&kernel);
	n = snprintf(
		line, sizeof(line),
		"stats: regions=%llu runs=%llu kernel_calls=%llu interp_calls=%llu native=%llu",
		(unsigned long long)c->regions, (unsigned long long)c->runs,
		(unsigned long long)(c->kernel_calls + kernel.calls),
		(unsigned long long)c->interp_calls, (unsigned long long)c->native);
	for (unsigned int i = 0; i < sizeof(left_names) / sizeof(*left_names); i++)
		n += snprintf(line + n, sizeof(line) - n, " %s=%llu", left_names[i],
			      (unsigned long long)c->left[i]);
	cosy_say("%s", line);
}
