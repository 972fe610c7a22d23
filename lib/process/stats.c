// SPDX-License-Identifier: MIT
/* stats.c - see stats.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../core/status.def"
#include "process/stats.h"

struct libcosy_counts libcosy_counts;

void libcosy_counts_reset(void)
{
	memset(&libcosy_counts, 0, sizeof(libcosy_counts));
}

/* Arrays, since the dynamic linker would relocate pointers in each process. */
#define STATUS_NAME(status, counter, count) [COSY_##status] = #count
static const char left_names[][16] = {
	COSY_STATUSES(STATUS_NAME),
};

static const char guard_names[][16] = {
#define COSY_GUARD(guard, name, relies, breaks) #name,
#include "../../core/guards.def"
#undef COSY_GUARD
};
#define GUARDS (sizeof(guard_names) / sizeof(*guard_names))

_Static_assert(GUARDS <= sizeof(libcosy_counts.guard_failed) / sizeof(*libcosy_counts.guard_failed),
	       "struct cosy_stats has a count for every guard");

void libcosy_counts_keep(const struct cosy_stats *kernel)
{
	libcosy_count(&libcosy_counts.kernel_calls, kernel->calls);
	libcosy_count(&libcosy_counts.fast, kernel->fast);
	libcosy_count(&libcosy_counts.loaned, kernel->loaned);
	libcosy_count(&libcosy_counts.transferred, kernel->transferred);
	libcosy_count(&libcosy_counts.exported, kernel->exported);
	libcosy_count(&libcosy_counts.imported, kernel->imported);
	libcosy_count(&libcosy_counts.passed, kernel->passed);
	libcosy_count(&libcosy_counts.taken, kernel->taken);
	libcosy_count(&libcosy_counts.move_refused, kernel->move_refused);
	for (unsigned int i = 0; i < GUARDS; i++)
		libcosy_count(&libcosy_counts.guard_failed[i], kernel->guard_failed[i]);
}

/* A line under construction; text that does not fit is left out. */
struct stats_line {
	char text[1200];
	int length;
};

__attribute__((format(printf, 2, 3))) static void line_add(struct stats_line *line,
							   const char *format, ...)
{
	int room = sizeof(line->text) - line->length, n;
	va_list args;

	va_start(args, format);
	n = vsnprintf(line->text + line->length, room, format, args);
	va_end(args);
	line->length += n < room ? n : room - 1;
}

static void line_add_count(struct stats_line *line, const char *prefix, const char *name,
			   uint64_t count)
{
	line_add(line, " %s%s=%llu", prefix, name, (unsigned long long)count);
}

/* Adds what only programs that move pages have. */
static void line_add_moved(struct stats_line *line, const struct libcosy_counts *c)
{
	if (!(c->loaned | c->transferred | c->exported | c->imported | c->passed | c->taken |
	      c->move_refused))
		return;
	line_add_count(line, "", "loaned", c->loaned);
	line_add_count(line, "", "transferred", c->transferred);
	line_add_count(line, "", "exported", c->exported);
	line_add_count(line, "", "imported", c->imported);
	line_add_count(line, "", "passed", c->passed);
	line_add_count(line, "", "taken", c->taken);
	line_add_count(line, "", "move_refused", c->move_refused);
}

void libcosy_stats_print(void)
{
	const struct libcosy_counts *c = &libcosy_counts;
	struct stats_line line = {.length = 0};

	line_add(&line, "stats:");
	line_add_count(&line, "", "regions", c->regions);
	line_add_count(&line, "", "runs", c->runs);
	line_add_count(&line, "", "kernel_calls", c->kernel_calls);
	line_add_count(&line, "", "fast", c->fast);
	line_add_count(&line, "", "interp_calls", c->interp_calls);
	line_add_count(&line, "", "native", c->native);
	line_add_count(&line, "", "unearned", c->unearned);
	line_add_count(&line, "", "seen", c->seen);
	line_add_count(&line, "", "unseen", c->unseen);
	line_add_count(&line, "", "queued", c->queued);
	line_add_count(&line, "", "remembered", c->remembered);
	line_add_count(&line, "", "loses", c->loses);
	line_add_count(&line, "", "given_up", c->given_up);
	for (unsigned int i = 0; i < sizeof(left_names) / sizeof(*left_names); i++)
		line_add_count(&line, "", left_names[i], c->left[i]);
	for (unsigned int i = 0; i < GUARDS; i++)
		if (c->guard_failed[i])
			line_add_count(&line, "guard_failed_", guard_names[i], c->guard_failed[i]);
	line_add_moved(&line, c);
	libcosy_say("%s", line.text);
}
