// SPDX-License-Identifier: MIT
/*
 * html.c - one page with everything in it: no script, and no request to anywhere, which a policy in
 * the page itself forbids as well; see show.h.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "show/page.h"

#define MAX_SEQUENCES 12
#define MAX_PLACES    60
#define MIN_SHARE     0.005 /* of the calls or of the time in them; a row below is only counted */

double page_percent(double part, double of)
{
	return of > 0 ? 100 * part / of : 0;
}

void page_text(FILE *to, const char *text)
{
	show_text(to, text, SHOW_HTML, 0);
}

const char *page_count(char *to, uint64_t count)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%lu", count), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			to[at++] = ',';
		to[at++] = digits[i];
	}
	to[at] = 0;
	return to;
}

void page_site(char *to, size_t size, const struct advice *advice, struct places *places,
	       uint32_t site)
{
	const struct event_frame *frame =
		profile_frame(advice->profile, advice->profile->sites[site].stack);
	struct finding where = {.object = frame ? frame->object : 0,
				.address = frame ? frame->address : 0};

	show_place(to, size, places, advice, &where);
}

static void html_sums(FILE *to, const struct advice *advice)
{
	const struct profile *profile = advice->profile;
	char cpu[32], calls[PAGE_COUNT], mean[32];

	advise_time(cpu, sizeof(cpu), advice->cpu);
	advise_time(mean, sizeof(mean),
		    profile->sums.calls ? (double)advice->kernel / profile->sums.calls : 0);
	fprintf(to, "<div class=\"sums\"><div><b id=\"calls\">%s</b>calls</div>",
		page_count(calls, profile->sums.calls));
	if (advise_measures(profile))
		fprintf(to,
			"<div><b>%s</b>of processor time in %.2f&nbsp;s</div>"
			"<div><b>%.0f %%</b>of it in calls, %s each</div>",
			cpu, profile->took / 1e9, page_percent(advice->kernel, advice->cpu), mean);
	else
		fprintf(to, "<div><b>%.2f&nbsp;s</b>recorded</div>", profile->took / 1e9);
	fprintf(to,
		"<div><b>%.0f %%</b>of the calls repeat in loops</div>"
		"<div><b>%u</b>process%s, %u thread%s</div></div>\n",
		page_percent(advice->in_rows, profile->sums.calls), profile->processes,
		profile->processes == 1 ? "" : "es", profile->threads,
		profile->threads == 1 ? "" : "s");
}

static void html_head(FILE *to, const struct advice *advice)
{
	const struct profile *profile = advice->profile;
	char own[32], lost[PAGE_COUNT], forgotten[PAGE_COUNT], programs[ADVISE_TEXT];

	show_programs(programs, sizeof(programs), profile);
	page_part(to, "head", programs);
	html_sums(to, advice);
	advise_time(own, sizeof(own), profile->recorder_cpu);
	fprintf(to,
		"<p class=\"weak\">Recorded by %s, which added %.1f us to a call and took %s of "
		"its own; %s.",
		show_backend(profile), profile->header.added / 1e3, own,
		advise_measures(profile)
			? "the former is subtracted everywhere"
			: "so it cannot measure processor time: times are at least what such "
			  "calls take here untraced");
	if (profile->lost || profile->forgotten)
		fprintf(to, " %s calls were lost; of %s only the number is known.",
			page_count(lost, profile->lost), page_count(forgotten, profile->forgotten));
	fputs(" (a b)+ is a loop of the calls a and b.</p>\n", to);
}

static void html_item(FILE *to, const char *name, const char *text)
{
	if (!*text)
		return;
	fprintf(to, "<dt>%s</dt><dd>", name);
	page_text(to, text);
	fputs("</dd>", to);
}

/* Draws a bar from the low end to the high one, of all the processor time. */
static void html_bar(FILE *to, double low, double high)
{
	low = low < 0 ? 0 : low > 100 ? 100 : low;
	high = high < low ? low : high > 100 ? 100 : high;
	fprintf(to, "<span class=\"bar\"><span style=\"left:%.1f%%;width:%.1f%%\"></span></span>",
		low, high - low);
}

/* Shows a saving as the terminal does, and draws it if it is a share. */
static void html_range(FILE *to, const struct advice *advice, const struct finding *finding)
{
	double low = show_saving(finding->low, advice->cpu);
	double high = show_saving(finding->high, advice->cpu);
	char text[SHOW_RANGE];

	if (!advise_measures(advice->profile)) {
		show_times(text, sizeof(text), finding->low, finding->high);
		fprintf(to, "<b>%s</b> of processor time", text);
		return;
	}
	fprintf(to, "<b>%.0f to %.0f %%</b> of processor time", low, high);
	html_bar(to, low, high);
	advise_time(text, sizeof(text), finding->middle);
	fprintf(to, "<span class=\"weak\">about %s</span>", text);
}

static void html_finding(FILE *to, const struct advice *advice, struct places *places,
			 unsigned int rank, const struct finding *finding)
{
	char place[ADVISE_TEXT], type[ADVISE_TEXT], count[PAGE_COUNT];
	bool suggested = show_suggested(type, sizeof(type), places, advice, finding);

	fprintf(to,
		"<tr><td class=\"rank n\">%u</td><td><span class=\"way\">%s</span></td>"
		"<td class=\"save\">",
		rank, advise_ways[finding->way]);
	html_range(to, advice, finding);
	fputs("</td><td class=\"what\">", to);
	page_text(to, finding->title);
	fprintf(to, "<br><span class=\"weak\">%s calls, %.0f %%</span>",
		page_count(count, finding->calls),
		page_percent(finding->calls, advice->profile->sums.calls));
	show_place(place, sizeof(place), places, advice, finding);
	if (*place) {
		fputs("<br><code>", to);
		page_text(to, place);
		fputs("</code>", to);
	}
	fprintf(to, "</td><td><span class=\"weak\">%s</span><dl>", advise_what[finding->way]);
	if (suggested)
		html_item(to, "type", type);
	html_item(to, suggested ? "or" : show_next(finding), finding->type);
	html_item(to, "better", finding->better);
	if (strcmp(finding->gives_up, "nothing"))
		html_item(to, "gives up", finding->gives_up);
	html_item(to, "depends", finding->depends);
	fputs("</dl></td></tr>\n", to);
}

static void html_findings(FILE *to, const struct advice *advice, struct places *places)
{
	unsigned int rank = 0;

	page_part(to, "findings", "");
	for (uint32_t i = 0; i < advice->n; i++) {
		if (advice->findings[i].way == WAY_NOTHING)
			continue;
		if (!rank)
			page_part(to, "findings-table", "");
		html_finding(to, advice, places, ++rank, &advice->findings[i]);
	}
	page_part(to, rank ? "table-end" : "findings-none", "");
}

static void html_nothings(FILE *to, const struct advice *advice, struct places *places)
{
	char place[ADVISE_TEXT];
	bool some = false;

	for (uint32_t i = 0; i < advice->n; i++) {
		const struct finding *finding = &advice->findings[i];

		if (finding->way != WAY_NOTHING)
			continue;
		if (!some)
			page_part(to, "nothings-table", "");
		some = true;
		fputs("<tr><td class=\"what\">", to);
		page_text(to, finding->title);
		show_place(place, sizeof(place), places, advice, finding);
		if (*place) {
			fputs("<br><code>", to);
			page_text(to, place);
			fputs("</code>", to);
		}
		fputs("</td><td>", to);
		page_text(to, finding->why);
		fputs("</td></tr>\n", to);
	}
	if (some)
		page_part(to, "table-end", "");
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

static bool share_small(const struct advice *advice, const struct sums *sums, uint64_t cpu)
{
	return sums->calls < MIN_SHARE * advice->profile->sums.calls &&
	       cpu < MIN_SHARE * advice->kernel;
}

static void html_sequence(FILE *to, const struct advice *advice, struct places *places,
			  const struct profile_row *row)
{
	struct finding where = {.object = row->object, .address = row->address};
	char place[ADVISE_TEXT], kernel[32], user[32];
	char calls[PAGE_COUNT], entries[PAGE_COUNT], turns[PAGE_COUNT];

	show_place(place, sizeof(place), places, advice, &where);
	advise_time(kernel, sizeof(kernel), advise_cpu(advice->profile, &row->sums));
	advise_time(user, sizeof(user), advise_user(advice->profile, &row->sums));
	fputs("<div class=\"card\"><h3>", to);
	page_text(to, *place ? place : "at several places");
	fprintf(to,
		"</h3><p>%s calls (%.0f %%), %s turn%s, entered %s time%s; %s in calls, %s between "
		"them</p>",
		page_count(calls, row->sums.calls),
		page_percent(row->sums.calls, advice->profile->sums.calls),
		page_count(turns, row->turns), row->turns == 1 ? "" : "s",
		page_count(entries, row->entries), row->entries == 1 ? "" : "s", kernel, user);
	page_graph(to, advice, places, row->symbol);
	fputs("</div>\n", to);
}

static void html_sequences(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;
	struct order *order = malloc((profile->n_rows + 1) * sizeof(*order));
	uint32_t n = 0, shown = 0;

	for (uint32_t i = 1; order && i <= profile->n_rows; i++)
		if (!profile->rows[i].merged)
			order[n++] = (struct order){advise_cpu(profile, &profile->rows[i].sums), i};
	if (n) {
		qsort(order, n, sizeof(*order), order_compare);
		page_part(to, "sequences", "");
	}
	for (uint32_t i = 0; i < n && shown < MAX_SEQUENCES; i++) {
		const struct profile_row *row = &profile->rows[order[i].number];

		if (shown && share_small(advice, &row->sums, order[i].cpu))
			continue;
		html_sequence(to, advice, places, row);
		shown++;
	}
	if (n > shown)
		fprintf(to, "<p class=\"weak\">And %u smaller, which --json has.</p>\n", n - shown);
	free(order);
}

/* Leaves zeros out, so that other numbers stand out. */
static void html_number(FILE *to, uint64_t number)
{
	char count[PAGE_COUNT];

	fprintf(to, "<td class=\"n\">%s</td>", number ? page_count(count, number) : "");
}

static void html_line(FILE *to, const struct advice *advice, struct places *places,
		      const struct order *order)
{
	const struct site *site = &advice->profile->sites[order->number];
	char place[ADVISE_TEXT], kernel[32];

	page_site(place, sizeof(place), advice, places, order->number);
	advise_time(kernel, sizeof(kernel), order->cpu);
	fprintf(to, "<tr><td class=\"n\">%s</td>", kernel);
	html_number(to, site->all.calls);
	fprintf(to, "<td>%s</td><td>", call_kind(site->nr)->name);
	page_text(to, place);
	fprintf(to, "</td><td>%s</td>", advise_file_kinds[site->file]);
	html_number(to, site->all.errors);
	html_number(to, site->all.slept);
	html_number(to, site->useless);
	fputs("</tr>\n", to);
}

static void html_lines(FILE *to, const struct advice *advice, struct places *places)
{
	const struct profile *profile = advice->profile;
	struct order *order = malloc((profile->n_sites + 1) * sizeof(*order));
	uint64_t calls = 0, cpu = 0, all = advise_cpu(profile, &profile->sums);
	uint32_t n = 0, shown = 0;
	char rest[32], count[PAGE_COUNT];

	page_part(to, "lines-table", "");
	for (uint32_t i = 1; order && i <= profile->n_sites; i++)
		order[n++] = (struct order){advise_cpu(profile, &profile->sites[i].all), i};
	if (order)
		qsort(order, n, sizeof(*order), order_compare);
	for (uint32_t i = 0; i < n && shown < MAX_PLACES; i++) {
		const struct sums *sums = &profile->sites[order[i].number].all;

		if (share_small(advice, sums, order[i].cpu))
			continue;
		html_line(to, advice, places, &order[i]);
		calls += sums->calls;
		cpu += order[i].cpu;
		shown++;
	}
	advise_time(rest, sizeof(rest), all > cpu ? all - cpu : 0);
	fprintf(to,
		"<tr><td class=\"n\">%s</td><td class=\"n\">%s</td><td>all "
		"others</td><td>%u places</td><td></td><td></td><td></td><td></td></tr>\n",
		rest, page_count(count, profile->sums.calls - calls), n - shown);
	page_part(to, "lines-end", "");
	free(order);
}

void show_html(FILE *to, const struct advice *advice, struct places *places)
{
	html_head(to, advice);
	html_findings(to, advice, places);
	html_nothings(to, advice, places);
	html_sequences(to, advice, places);
	page_lanes(to, advice->profile);
	html_lines(to, advice, places);
	page_part(to, "end", "");
}
