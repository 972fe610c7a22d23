// SPDX-License-Identifier: MIT
/* text.c - names for the enums of advise.h, and sequences as a person reads them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "advise/advise.h"
#include "calls.h"

#define MAX_DEPTH 6

const char *const advise_ways[] = {
	[WAY_REGION] = "region",	   [WAY_RUN] = "cosy run",  [WAY_TRUNC] = "relax=trunc",
	[WAY_COALESCE] = "relax=coalesce", [WAY_REMOVE] = "remove", [WAY_NOTHING] = "nothing",
};

const char *const advise_what[] = {
	[WAY_REGION] = "the loop runs in the kernel: one crossing, not one for each call",
	[WAY_RUN] = "small reads are served without a system call; the program is not changed",
	[WAY_TRUNC] =
		"files are rewritten in place, not truncated first; the program is not changed",
	[WAY_COALESCE] = "small writes are joined; the program is not changed",
	[WAY_REMOVE] = "the program makes calls that it could leave out",
	[WAY_NOTHING] = "",
};

const char *const advise_file_kinds[] = {
	[FILE_NONE] = "",	  [FILE_REGULAR] = "file", [FILE_DIRECTORY] = "directory",
	[FILE_DEVICE] = "device", [FILE_PROC] = "proc",	   [FILE_SOCKET] = "socket",
	[FILE_PIPE] = "pipe",	  [FILE_OTHER] = "other",
};

const char *const advise_edge_kinds[] = {
	[EDGE_DESCRIPTOR] = "descriptor", [EDGE_BUFFER] = "buffer", [EDGE_COUNT] = "count",
	[EDGE_POSITION] = "position",	  [EDGE_PATH] = "path",
};

const char *const advise_run_reasons[] = {
#define REASON(name, text) text,
#include "fold/reasons.def"
};

struct text {
	char *to;
	size_t size, len;
};

static void text_add(struct text *text, const char *format, ...)
{
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(text->to + text->len, text->size - text->len, format, arguments);
	va_end(arguments);
	if (len < 0 || text->len + len >= text->size)
		text->len = text->size - 1;
	else
		text->len += len;
}

static const char *symbol_name(const struct profile *profile, const struct symbol *symbol)
{
	unsigned int nr = symbol->site <= profile->n_sites ? profile->sites[symbol->site].nr
							   : UINT32_MAX - symbol->site;

	return call_kind(nr)->name;
}

static void symbol_text(const struct profile *profile, uint32_t number, unsigned int depth,
			struct text *text)
{
	const struct symbol *symbol = &profile->symbols[number];

	if (symbol->site) {
		text_add(text, "%s", symbol_name(profile, symbol));
		return;
	}
	if (!depth) {
		text_add(text, "..");
		return;
	}
	if (symbol->len > 1)
		text_add(text, "(");
	for (uint32_t i = 0; i < symbol->len && text->len + 1 < text->size; i++) {
		if (i)
			text_add(text, " ");
		symbol_text(profile, profile->bodies[symbol->body + i], depth - 1, text);
	}
	text_add(text, symbol->len > 1 ? ")+" : "+");
}

/* End cut text with two dots. */
static void text_end(struct text *text)
{
	if (text->len + 1 >= text->size && text->size > 3)
		strcpy(text->to + text->size - 3, "..");
}

void advise_sequence(const struct profile *profile, uint32_t symbol, char *to, size_t size)
{
	struct text text = {to, size, 0};

	*to = 0;
	symbol_text(profile, symbol, MAX_DEPTH, &text);
	text_end(&text);
}

void advise_session(const struct profile *profile, const struct session *session, char *to,
		    size_t size)
{
	struct text text = {to, size, 0};

	*to = 0;
	if (session->cut)
		text_add(&text, ".. ");
	for (uint32_t i = 0; i < session->len; i++) {
		if (i)
			text_add(&text, " ");
		symbol_text(profile, profile->bodies[session->first + i], MAX_DEPTH, &text);
	}
	text_end(&text);
}

void advise_time(char *to, size_t size, double ns)
{
	double a = fabs(ns);

	if (a < 1e3)
		snprintf(to, size, "%.0f ns", ns);
	else if (a < 1e6)
		snprintf(to, size, "%.1f us", ns / 1e3);
	else if (a < 1e9)
		snprintf(to, size, "%.1f ms", ns / 1e6);
	else
		snprintf(to, size, "%.2f s", ns / 1e9);
}

void advise_amount(char *to, size_t size, const struct advice *advice, double ns)
{
	if (advise_measures(advice->profile))
		snprintf(to, size, "%.0f %%", advice->cpu ? 100 * ns / advice->cpu : 0);
	else
		advise_time(to, size, ns);
}
