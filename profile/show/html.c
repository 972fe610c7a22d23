// SPDX-License-Identifier: MIT
/*
 * html.c - one page with everything in it: no script, and no request to anywhere, which a policy in
 * the page itself forbids as well; see show.h.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "show/graph.h"
#include "show/show.h"

#define MAX_SEQUENCES 12
#define MAX_PLACES    60

static const char style[] =
	":root{color-scheme:light "
	"dark;--line:#8886;--soft:#8882;--good:#1a7f5a;--loop:#b45309;--flow:#2563eb}"
	"@media(prefers-color-scheme:dark){:root{--good:#3ecf8e;--loop:#f59e0b;--flow:#7aa7ff}}"
	"*{box-sizing:border-box}"
	"body{font:16px/1.5 system-ui,sans-serif;max-width:1200px;margin:0 "
	"auto;padding:1em;overflow-wrap:anywhere}"
	"h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}h3{font-size:1em;margin:.2em 0}"
	".card{border:1px solid var(--line);border-radius:8px;padding:.8em 1em;margin:.8em 0}"
	".way{display:inline-block;border:1px solid "
	"var(--good);color:var(--good);border-radius:4px;padding:0 "
	".5em;margin-right:.5em;font-weight:600}"
	"code{background:var(--soft);border-radius:4px;padding:.1em .3em}"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.2em 1em;margin:.5em "
	"0}dt{opacity:.75}dd{margin:0}"
	".bar{position:relative;height:10px;background:var(--soft);border-radius:5px;margin:.5em 0}"
	".bar "
	"span{position:absolute;height:10px;background:var(--good);border-radius:5px;min-width:3px}"
	".scroll{overflow-x:auto}table{border-collapse:collapse;min-width:100%}"
	"td,th{padding:.25em .7em;text-align:left;border-bottom:1px solid "
	"var(--line);vertical-align:top;overflow-wrap:normal}"
	"td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
	"svg{display:block}svg text{font:13px "
	"system-ui,sans-serif;text-anchor:middle;fill:currentColor}"
	"svg .kind{font-size:11px;opacity:.75}svg rect{fill:var(--soft);stroke:var(--line)}"
	"svg path{fill:none;stroke:currentColor}svg .loop{stroke:var(--loop);stroke-width:2}"
	"svg .flow{stroke:var(--flow);stroke-width:1.5;stroke-dasharray:4 3}"
	"p.lane{margin:.4em 0 0}svg.lane{width:100%;height:28px;background:var(--soft)}"
	"svg .kernel{fill:var(--loop);stroke:none}svg .user{fill:var(--flow);stroke:none}"
	".way.kernel{color:var(--loop);border-color:var(--loop)}"
	".way.user{color:var(--flow);border-color:var(--flow)}"
	".flows{margin:.2em 0;padding-left:1.2em}";

static double percent_of(double part, double of)
{
	return of > 0 ? 100 * part / of : 0;
}

static void html_text(FILE *to, const char *text)
{
	show_text(to, text, SHOW_HTML, 0);
}

static void html_head(FILE *to, const struct advice *advice)
{
	const struct profile *profile = advice->profile;
	char cpu[32], kernel[32], own[32];

	fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>cosy "
	      "profile: ",
	      to);
	html_text(to, profile->program);
	fprintf(to, "</title><style>%s</style></head><body>\n<h1>cosy profile: ", style);
	html_text(to, profile->program[0] ? profile->program : "processes");
	show_time(cpu, sizeof(cpu), advice->cpu);
	show_time(kernel, sizeof(kernel), advice->kernel);
	show_time(own, sizeof(own), profile->recorder_cpu);
	fprintf(to,
		"</h1><p><span id=\"calls\">%lu</span> calls of %u processes and %u threads, in "
		"%.2f s. "
		"Processor time %s, of it %s in calls. %.0f %% of the calls repeat in loops. "
		"Recording added %.1f us to a call, which is subtracted, and took %s of its own.",
		profile->sums.calls, profile->processes, profile->threads,
		(profile->last - profile->first) / 1e9, cpu, kernel,
		percent_of(advice->in_rows, profile->sums.calls),
		(profile->header.call_cost + (double)profile->header.gap_cost) / 1e3, own);
	if (profile->lost || profile->forgotten)
		fprintf(to, " %lu calls were lost; of %lu only the number is known.", profile->lost,
			profile->forgotten);
	fputs("</p>\n", to);
}

static void html_item(FILE *to, const char *name, const char *text, const char *tag)
{
	if (!*text)
		return;
	fprintf(to, "<dt>%s</dt><dd><%s>", name, tag);
	html_text(to, text);
	fprintf(to, "</%s></dd>", tag);
}

/* From the low end to the high one, of all the processor time. */
static void html_bar(FILE *to, double low, double high)
{
	low = low < 0 ? 0 : low > 100 ? 100 : low;
	high = high < low ? low : high > 100 ? 100 : high;
	fprintf(to, "<div class=\"bar\"><span style=\"left:%.1f%%;width:%.1f%%\"></span></div>",
		low, high - low);
}

static void html_finding(FILE *to, const struct advice *advice, struct places *places,
			 const struct finding *finding)
{
	double low = percent_of(finding->low, advice->cpu);
	double high = percent_of(finding->high, advice->cpu);
	char place[ADVISE_TEXT], middle[32];

	show_place(place, sizeof(place), places, advice, finding);
	show_time(middle, sizeof(middle), finding->middle);
	fprintf(to,
		"<div class=\"card\"><h3><span class=\"way\">%s</span>saves %.0f to %.0f %% of the "
		"processor time, about %s</h3>",
		advise_ways[finding->way], low, high, middle);
	html_bar(to, low, high);
	fputs("<dl>", to);
	html_item(to, "calls", finding->title, "span");
	fprintf(to, "<dt>how many</dt><dd>%lu, %.0f %%</dd>", finding->calls,
		percent_of(finding->calls, advice->profile->sums.calls));
	html_item(to, "where", place, "code");
	html_item(to, "do", finding->type, "span");
	html_item(to, "gives up", finding->gives_up, "span");
	fputs("</dl></div>\n", to);
}

static void html_findings(FILE *to, const struct advice *advice, struct places *places)
{
	char place[ADVISE_TEXT];
	bool some = false;

	fputs("<h2>What would pay</h2>\n", to);
	for (uint32_t i = 0; i < advice->n; i++)
		if (advice->findings[i].way != WAY_NOTHING) {
			html_finding(to, advice, places, &advice->findings[i]);
			some = true;
		}
	if (!some)
		fputs("<p>Nothing here would pay.</p>\n", to);
	fputs("<h2>What would not, and why</h2>\n<div class=\"scroll\"><table><tr><th>what</th>"
	      "<th>where</th><th>why</th></tr>\n",
	      to);
	for (uint32_t i = 0; i < advice->n; i++) {
		const struct finding *finding = &advice->findings[i];

		if (finding->way != WAY_NOTHING)
			continue;
		show_place(place, sizeof(place), places, advice, finding);
		fputs("<tr><td>", to);
		html_text(to, finding->title);
		fputs("</td><td>", to);
		html_text(to, place);
		fputs("</td><td>", to);
		html_text(to, finding->why);
		fputs("</td></tr>\n", to);
	}
	fputs("</table></div>\n", to);
}

struct order {
	uint64_t cpu;
	uint32_t number;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return (x->cpu < y->cpu) - (x->cpu > y->cpu);
}

static void html_sequences(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;
	struct order *order = malloc((profile->n_rows + 1) * sizeof(*order));
	uint32_t n = 0;

	fputs("<h2>Sequences that repeat</h2>\n<p>Arcs above are loops; dashed arcs below are what "
	      "a "
	      "call takes from one before it.</p>\n",
	      to);
	for (uint32_t i = 1; order && i <= profile->n_rows; i++)
		if (!profile->rows[i].merged)
			order[n++] = (struct order){advise_cpu(profile, &profile->rows[i].sums), i};
	if (order)
		qsort(order, n, sizeof(*order), order_compare);
	for (uint32_t i = 0; i < n && i < MAX_SEQUENCES; i++) {
		const struct profile_row *row = &profile->rows[order[i].number];
		struct finding where = {.object = row->object, .address = row->address};
		char place[ADVISE_TEXT], kernel[32], user[32];

		show_place(place, sizeof(place), places, advice, &where);
		show_time(kernel, sizeof(kernel), advise_cpu(profile, &row->sums));
		show_time(user, sizeof(user), advise_user(profile, &row->sums));
		fputs("<div class=\"card\"><h3>", to);
		html_text(to, *place ? place : "an unknown place");
		fprintf(to,
			"</h3><p>%lu calls, entered %lu times, %lu turns; kernel %s, between calls "
			"%s</p>",
			row->sums.calls, row->entries, row->turns, kernel, user);
		graph_html(to, profile, row->symbol);
		fputs("</div>\n", to);
	}
	if (n > MAX_SEQUENCES)
		fprintf(to, "<p>And %u more, which --json has.</p>\n", n - MAX_SEQUENCES);
	free(order);
}

static void html_places(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;
	struct order *order = malloc((profile->n_sites + 1) * sizeof(*order));
	uint64_t calls = 0;
	uint32_t n = 0;

	fputs("<h2>By source line</h2>\n<div class=\"scroll\"><table "
	      "id=\"places\"><tr><th>where</th><th>call</th>"
	      "<th>of</th><th class=\"n\">calls</th><th class=\"n\">errors</th><th "
	      "class=\"n\">slept</th>"
	      "<th class=\"n\">useless</th><th class=\"n\">kernel</th></tr>\n",
	      to);
	for (uint32_t i = 1; order && i <= profile->n_sites; i++)
		order[n++] = (struct order){advise_cpu(profile, &profile->sites[i].all), i};
	if (order)
		qsort(order, n, sizeof(*order), order_compare);
	for (uint32_t i = 0; i < n && i < MAX_PLACES; i++) {
		const struct site *site = &profile->sites[order[i].number];
		const struct event_frame *frame = profile_frame(profile, site->stack);
		struct finding where = {.object = frame ? frame->object : 0,
					.address = frame ? frame->address : 0};
		char place[ADVISE_TEXT], kernel[32];

		show_place(place, sizeof(place), places, advice, &where);
		show_time(kernel, sizeof(kernel), order[i].cpu);
		calls += site->all.calls;
		fputs("<tr><td>", to);
		html_text(to, place);
		fprintf(to,
			"</td><td>%s</td><td>%s</td><td class=\"n\">%lu</td><td "
			"class=\"n\">%lu</td>"
			"<td class=\"n\">%lu</td><td class=\"n\">%lu</td><td "
			"class=\"n\">%s</td></tr>\n",
			call_kind(site->nr)->name, advise_file_kinds[site->file], site->all.calls,
			site->all.errors, site->all.slept, site->useless, kernel);
	}
	fprintf(to,
		"<tr><td>all others</td><td></td><td></td><td "
		"class=\"n\">%lu</td><td></td><td></td><td></td><td></td></tr>\n</table></div>\n",
		profile->sums.calls - calls);
	free(order);
}

/* Without what recording took. */
static double bin_net(uint64_t calls, uint64_t cpu, uint32_t cost)
{
	double net = (double)cpu - (double)calls * cost;

	return net > 0 ? net : 0;
}

/* Columns upon `below`, each as high as its share of a processor. */
static void html_columns(FILE *to, const struct profile *profile, const struct timeline_lane *lane,
			 bool user)
{
	const struct event_header *header = &profile->header;
	double whole = (double)(1ULL << profile->timeline.shift);

	fprintf(to, "<path class=\"%s\" d=\"", user ? "user" : "kernel");
	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		const struct timeline_bin *bin = &lane->bins[i];
		double below = 28 * bin_net(bin->calls, bin->kernel, header->call_cost) / whole;
		double height = user ? 28 * bin_net(bin->calls, bin->user, header->gap_cost) / whole
				     : below;

		below = user ? below : 0;
		below = below < 28 ? below : 28;
		height = below + height < 28 ? height : 28 - below;
		if (height > 0)
			fprintf(to, "M%u,%.1fv-%.1fh1v%.1fz", i, 28 - below, height, height);
	}
	fputs("\"/>", to);
}

static void html_timeline(FILE *to, const struct profile *profile)
{
	const struct timeline *timeline = &profile->timeline;
	char whole[32];

	if (!timeline->shift)
		return;
	show_time(whole, sizeof(whole), (double)TIMELINE_BINS * (1ULL << timeline->shift));
	fprintf(to,
		"<h2>Over time</h2>\n<p>Each line is %s long, and a whole processor high: "
		"<span class=\"way kernel\">in calls</span> <span class=\"way user\">between "
		"them</span></p>\n",
		whole);
	for (uint32_t i = 0; i <= timeline->n_lanes; i++) {
		const struct timeline_lane *lane = &timeline->lanes[i];

		if (!lane->calls)
			continue;
		fputs("<p class=\"lane\">", to);
		html_text(to, !i ? "all others" : *lane->program ? lane->program : "a child");
		if (i)
			fprintf(to, ", process %u", lane->pid);
		fprintf(to,
			": %lu calls</p><svg class=\"lane\" role=\"img\" viewBox=\"0 0 %d 28\" "
			"preserveAspectRatio=\"none\" aria-label=\"%lu calls over time\">",
			lane->calls, TIMELINE_BINS, lane->calls);
		html_columns(to, profile, lane, false);
		html_columns(to, profile, lane, true);
		fputs("</svg>\n", to);
	}
}

void show_html(FILE *to, const struct advice *advice, struct places *places)
{
	html_head(to, advice);
	html_findings(to, advice, places);
	html_sequences(to, advice, places);
	html_timeline(to, advice->profile);
	html_places(to, advice, places);
	fputs("</body></html>\n", to);
}
