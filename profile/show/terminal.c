// SPDX-License-Identifier: MIT
/* terminal.c - the summary: ranked, one screen; see show.h. */
#include <string.h>

#include "calls.h"
#include "show/show.h"

#define WIDTH	 96 /* of text that may be cut */
#define FINDINGS 6
#define NOTHINGS 4

static double percent(double part, double of)
{
	return of > 0 ? 100 * part / of : 0;
}

static const char *plural(uint64_t number, const char *end)
{
	return number == 1 ? "" : end;
}

static void show_range(FILE *to, const struct advice *advice, const struct finding *finding)
{
	char middle[32], range[SHOW_RANGE];

	if (!advise_measures(advice->profile)) {
		show_times(range, sizeof(range), finding->low, finding->high);
		fprintf(to, "saves %s of processor time", range);
		return;
	}
	advise_time(middle, sizeof(middle), finding->middle);
	if (show_saving(finding->low, advice->cpu) == show_saving(finding->high, advice->cpu))
		fprintf(to, "saves about %.0f %% of the processor time (%s)",
			show_saving(finding->high, advice->cpu), middle);
	else
		fprintf(to, "saves %.0f to %.0f %% of the processor time (about %s)",
			show_saving(finding->low, advice->cpu),
			show_saving(finding->high, advice->cpu), middle);
}

static void show_line(FILE *to, const char *label, const char *text)
{
	if (!*text)
		return;
	fprintf(to, "     %-9s ", label);
	show_text(to, text, SHOW_TERMINAL, 0);
	putc('\n', to);
}

/* Prints the command to type: if the line of a loop is known, the option that marks it first. */
static void show_type(FILE *to, const struct advice *advice, struct places *places,
		      const struct finding *finding)
{
	char text[ADVISE_TEXT];

	if (show_suggested(text, sizeof(text), places, advice, finding)) {
		show_line(to, "type", text);
		show_line(to, "or", finding->type);
	} else {
		show_line(to, show_next(finding), finding->type);
	}
}

static void show_finding(FILE *to, const struct advice *advice, struct places *places,
			 unsigned int number, const struct finding *finding)
{
	char place[ADVISE_TEXT];

	fprintf(to, "\n%3u. %s: ", number, advise_ways[finding->way]);
	show_range(to, advice, finding);
	putc('\n', to);
	show_line(to, "what", advise_what[finding->way]);
	fprintf(to, "     %-9s ", "calls");
	show_text(to, finding->title, SHOW_TERMINAL, WIDTH);
	fprintf(to, "  [%lu, %.0f %%]\n", finding->calls,
		percent(finding->calls, advice->profile->sums.calls));
	show_place(place, sizeof(place), places, advice, finding);
	show_line(to, "where", place);
	show_type(to, advice, places, finding);
	show_line(to, "better", finding->better);
	if (strcmp(finding->gives_up, "nothing"))
		show_line(to, "gives up", finding->gives_up);
	show_line(to, "depends", finding->depends);
}

static void show_nothing(FILE *to, const struct advice *advice, struct places *places,
			 const struct finding *finding)
{
	char place[ADVISE_TEXT];

	fputs("  - ", to);
	show_text(to, finding->title, SHOW_TERMINAL, WIDTH);
	show_place(place, sizeof(place), places, advice, finding);
	if (*place) {
		fputs(", ", to);
		show_text(to, place, SHOW_TERMINAL, WIDTH);
	}
	fputs(": ", to);
	show_text(to, finding->why, SHOW_TERMINAL, 2 * WIDTH);
	putc('\n', to);
}

const char *show_backend(const struct profile *profile)
{
	static const char *const backends[] = {"an unknown way", "ptrace", "tracepoints", "fentry"};
	uint32_t backend = profile->header.backend;

	return backends[backend <= EVENT_BACKEND_FENTRY ? backend : 0];
}

static void show_head(FILE *to, const struct advice *advice)
{
	const struct profile *profile = advice->profile;
	char cpu[32], kernel[32], own[32], programs[ADVISE_TEXT];
	bool measures = advise_measures(profile);

	advise_time(cpu, sizeof(cpu), advice->cpu);
	advise_time(kernel, sizeof(kernel), advice->kernel);
	advise_time(own, sizeof(own), profile->recorder_cpu);
	show_programs(programs, sizeof(programs), profile);
	show_text(to, programs, SHOW_TERMINAL, 2 * WIDTH);
	fprintf(to, ": %lu system call%s, %u process%s, %u thread%s, %.2f s\n", profile->sums.calls,
		plural(profile->sums.calls, "s"), profile->processes,
		plural(profile->processes, "es"), profile->threads, plural(profile->threads, "s"),
		profile->took / 1e9);
	if (measures)
		fprintf(to, "  processor time %s, of it in calls %s (%.0f %%); ", cpu, kernel,
			percent(advice->kernel, advice->cpu));
	fprintf(to, "%s%.0f %% of the calls repeat in loops\n", measures ? "" : "  ",
		percent(advice->in_rows, profile->sums.calls));
	fprintf(to, "  recorded by %s, which added %.1f us to a call%s and took %s of its own\n",
		show_backend(profile), profile->header.added / 1e3,
		measures ? " (subtracted above)" : "", own);
	if (!measures)
		fputs("  so it cannot measure the program's processor time: savings are reckoned "
		      "from what\n  such calls take here untraced\n",
		      to);
	if (profile->lost)
		fprintf(to, "  %lu calls were lost, and are in no sum\n", profile->lost);
	if (profile->forgotten)
		fprintf(to, "  of %lu calls only the number is known: a table was full\n",
			profile->forgotten);
}

/* True if both have the same text, whatever their places in the program are. */
static bool edge_same(const struct profile *profile, const struct edge *a, const struct edge *b)
{
	return a->kind == b->kind && profile->sites[a->from].nr == profile->sites[b->from].nr &&
	       profile->sites[a->to].nr == profile->sites[b->to].nr;
}

static void show_dependences(FILE *to, const struct advice *advice)
{
	const struct profile *profile = advice->profile;
	unsigned int shown = 0;

	for (int round = 0; round < 4; round++) {
		const struct edge *best = NULL;
		static const struct edge *had[4];

		for (uint32_t i = 1; i <= profile->n_edges; i++) {
			const struct edge *edge = &profile->edges[i];
			bool again = false;

			for (int j = 0; j < round; j++)
				again |= had[j] && edge_same(profile, had[j], edge);
			if (!again && edge->held * 50 > profile->sums.calls &&
			    edge->kind != EDGE_DESCRIPTOR &&
			    (edge->kind != EDGE_COUNT || edge->varied) &&
			    (!best || edge->held > best->held))
				best = edge;
		}
		had[round] = best;
		if (!best)
			break;
		fprintf(to, "%s%s -> %s, same %s (%.0f %%)",
			shown++ ? "; " : "\nWhat a call hands to the next: ",
			call_kind(profile->sites[best->from].nr)->name,
			call_kind(profile->sites[best->to].nr)->name, advise_edge_kinds[best->kind],
			percent(best->held, profile->sites[best->to].all.calls));
	}
	if (shown)
		putc('\n', to);
}

/* Explains terms of the summary to a first reader. */
static void show_notes(FILE *to, const struct advice *advice, struct places *places,
		       unsigned int findings, unsigned int nothings)
{
	bool runs = false, loops = false, lines = true;

	for (uint32_t i = 0; i < advice->n; i++) {
		const struct finding *finding = &advice->findings[i];
		bool pays = finding->way != WAY_NOTHING;

		if (pays ? !findings : !nothings)
			continue;
		pays ? findings-- : nothings--;
		runs |= finding->way == WAY_RUN;
		loops |= strstr(finding->title, ")+") != NULL;
		if (finding->object && pays)
			lines &= show_line_of(places, advice, finding).file != NULL;
	}
	if (runs || loops || !lines)
		putc('\n', to);
	if (loops)
		fputs("(a b)+ is a loop of the calls a and b.\n", to);
	if (!lines)
		fputs("For source lines build it with -g, or set DEBUGINFOD_URLS (debuginfod).\n",
		      to);
	if (runs)
		fputs("To measure cosy run: cosy profile --verify -- PROGRAM ...\n", to);
}

void show_terminal(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;
	unsigned int shown = 0, nothings = 0;
	uint64_t calls = 0;

	show_head(to, advice);
	for (uint32_t i = 0; i < advice->n && shown < FINDINGS; i++)
		if (advice->findings[i].way != WAY_NOTHING) {
			show_finding(to, advice, places, ++shown, &advice->findings[i]);
			calls += advice->findings[i].calls;
		}
	if (calls > profile->sums.calls)
		fputs("\nSome of these are about the same calls, so that their savings do not add "
		      "up.\n",
		      to);
	for (uint32_t i = 0; profile->sums.calls && i < advice->n && nothings < NOTHINGS; i++) {
		if (advice->findings[i].way != WAY_NOTHING)
			continue;
		if (!nothings++)
			fputs(shown ? "\nWould not pay:\n"
				    : "\nNothing here would pay, for these reasons:\n",
			      to);
		show_nothing(to, advice, places, &advice->findings[i]);
	}
	if (!profile->sums.calls)
		fputs("\nNo system call was made while it was recorded.\n", to);
	else if (!shown && !nothings)
		fputs("\nNothing here would pay: too few calls repeat.\n", to);
	show_dependences(to, advice);
	show_notes(to, advice, places, shown, nothings);
}
