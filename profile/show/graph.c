// SPDX-License-Identifier: MIT
/* graph.c - a sequence as a picture; see page.h. */
#include "calls.h"
#include "show/page.h"

#define MAX_BOXES 14
#define MAX_ARCS  24
#define DEPENDS	  12 /* that are shown, the most frequent first */

/* Pixels. */
#define LEFT	   58 /* room for the loops */
#define RIGHT	   78 /* room for the dependences */
#define BOX_WIDTH  180
#define BOX_HEIGHT 36
#define BOX_STEP   46

struct graph {
	const struct profile *profile;
	uint32_t sites[MAX_BOXES];
	unsigned int n_boxes, n_arcs, n_edges;
	struct {
		unsigned int from, to;
	} arcs[MAX_ARCS];
	const struct edge *edges[DEPENDS];
	bool cut;
};

static void graph_add(struct graph *graph, uint32_t number)
{
	const struct symbol *symbol = &graph->profile->symbols[number];
	unsigned int first = graph->n_boxes;

	if (symbol->site) {
		if (graph->n_boxes == MAX_BOXES || symbol->site > graph->profile->n_sites)
			graph->cut = true;
		else
			graph->sites[graph->n_boxes++] = symbol->site;
		return;
	}
	for (uint32_t i = 0; i < symbol->len && !graph->cut; i++)
		graph_add(graph, graph->profile->bodies[symbol->body + i]);
	if (graph->n_boxes > first && graph->n_arcs < MAX_ARCS) {
		graph->arcs[graph->n_arcs].from = first;
		graph->arcs[graph->n_arcs++].to = graph->n_boxes - 1;
	}
}

static int box_middle(unsigned int box)
{
	return 4 + box * BOX_STEP + BOX_HEIGHT / 2;
}

static int box_of(const struct graph *graph, uint32_t site)
{
	for (unsigned int i = 0; i < graph->n_boxes; i++)
		if (graph->sites[i] == site)
			return i;
	return -1;
}

/* Draws a curve from one height to another that swings out from x, with a head at its end. */
static void graph_arc(FILE *to, const char *class, int x, int from, int last, int out)
{
	int side = out < 0 ? -6 : 6;

	fprintf(to,
		"<path class=\"%s\" d=\"M%d,%d C%d,%d %d,%d %d,%d\"/>"
		"<path class=\"%s head\" d=\"M%d,%d l%d,-4 v8z\"/>",
		class, x, from, x + out * 4 / 3, from, x + out * 4 / 3, last, x + side, last, class,
		x, last, side);
}

/* Draws arcs from the last call of a loop back to its first; outer loops swing out further. */
static void graph_loops(FILE *to, const struct graph *graph)
{
	for (unsigned int i = 0; i < graph->n_arcs; i++) {
		unsigned int from = graph->arcs[i].from, last = graph->arcs[i].to;
		int out = 20 + 5 * (last - from);

		graph_arc(to, "loop", LEFT, box_middle(last) + 8, box_middle(from) - 8,
			  -(out < LEFT - 4 ? out : LEFT - 4));
	}
}

static void graph_boxes(FILE *to, const struct graph *graph)
{
	for (unsigned int i = 0; i < graph->n_boxes; i++) {
		const struct site *site = &graph->profile->sites[graph->sites[i]];
		const char *file = advise_file_kinds[site->file];
		int top = box_middle(i) - BOX_HEIGHT / 2;

		fprintf(to,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>"
			"<text x=\"%d\" y=\"%d\">%s</text><text class=\"kind\" x=\"%d\" "
			"y=\"%d\">%u%s%s</text>",
			LEFT, top, BOX_WIDTH, BOX_HEIGHT, LEFT + BOX_WIDTH / 2, top + 16,
			call_kind(site->nr)->name, LEFT + BOX_WIDTH / 2, top + 30, i + 1,
			*file ? ": " : "", file);
		if (i)
			fprintf(to, "<path d=\"M%d,%d v%d\"/>", LEFT + BOX_WIDTH / 2,
				top - BOX_STEP + BOX_HEIGHT, BOX_STEP - BOX_HEIGHT);
	}
}

static void graph_flows(FILE *to, const struct graph *graph)
{
	for (unsigned int i = 0; i < graph->n_edges; i++) {
		const struct edge *edge = graph->edges[i];
		int from = box_of(graph, edge->from), last = box_of(graph, edge->to);
		int out = 16 + 8 * (last > from ? last - from : from - last);
		char class[32];

		snprintf(class, sizeof(class), "flow %s", advise_edge_kinds[edge->kind]);
		graph_arc(to, class, LEFT + BOX_WIDTH, box_middle(from) + 6, box_middle(last) - 6,
			  out < RIGHT - 4 ? out : RIGHT - 4);
	}
}

/* Finds the dependences between calls of the picture that mostly held. */
static void graph_find_edges(struct graph *graph)
{
	const struct profile *profile = graph->profile;
	const struct edge **ret = graph->edges;
	unsigned int n = 0;

	for (uint32_t i = 1; i <= profile->n_edges; i++) {
		const struct edge *edge = &profile->edges[i];
		unsigned int at = n;

		if (box_of(graph, edge->from) < 0 || box_of(graph, edge->to) < 0 ||
		    2 * edge->held < profile->sites[edge->to].all.calls ||
		    (edge->kind == EDGE_COUNT && !edge->varied))
			continue;
		if (n == DEPENDS && ret[n - 1]->held >= edge->held)
			continue;
		if (n < DEPENDS)
			n++;
		else
			at--;
		for (; at && ret[at - 1]->held < edge->held; at--)
			ret[at] = ret[at - 1];
		ret[at] = edge;
	}
	graph->n_edges = n;
}

static double edge_percent(const struct graph *graph, const struct edge *edge)
{
	return page_percent(edge->held, graph->profile->sites[edge->to].all.calls);
}

static void graph_name(FILE *to, const struct graph *graph, uint32_t site)
{
	fprintf(to, "%d %s", box_of(graph, site) + 1,
		call_kind(graph->profile->sites[site].nr)->name);
}

/* Writes one line for all that takes the same from the same call. */
static void graph_words(FILE *to, const struct graph *graph)
{
	bool said[DEPENDS] = {false};

	if (!graph->n_edges)
		return;
	fputs("<ul class=\"flows\">", to);
	for (unsigned int i = 0; i < graph->n_edges; i++) {
		const struct edge *first = graph->edges[i];
		double low = 100, high = 0;

		if (said[i])
			continue;
		fputs("<li>", to);
		graph_name(to, graph, first->from);
		for (unsigned int j = i; j < graph->n_edges; j++) {
			const struct edge *edge = graph->edges[j];
			double percent = edge_percent(graph, edge);

			if (edge->from != first->from || edge->kind != first->kind)
				continue;
			said[j] = true;
			low = percent < low ? percent : low;
			high = percent > high ? percent : high;
			fputs(j == i ? " to " : ", ", to);
			graph_name(to, graph, edge->to);
		}
		fprintf(to, ": the same %s in %.0f", advise_edge_kinds[first->kind], low);
		if (high - low >= 1)
			fprintf(to, " to %.0f", high);
		fputs(" %</li>", to);
	}
	fputs("</ul>", to);
}

static void graph_calls(FILE *to, const struct graph *graph, const struct advice *advice,
			struct places *places)
{
	char place[ADVISE_TEXT], count[PAGE_COUNT], kernel[32];

	fputs("<table><thead><tr><th class=\"n\">#</th><th>where</th><th class=\"n\">calls</th>"
	      "<th class=\"n\">in calls</th></tr></thead><tbody>",
	      to);
	for (unsigned int i = 0; i < graph->n_boxes; i++) {
		const struct site *site = &graph->profile->sites[graph->sites[i]];

		page_site(place, sizeof(place), advice, places, graph->sites[i]);
		advise_time(kernel, sizeof(kernel), advise_cpu(graph->profile, &site->all));
		fprintf(to, "<tr><td class=\"n\">%u</td><td>", i + 1);
		page_text(to, *place ? place : call_kind(site->nr)->name);
		fprintf(to, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>",
			page_count(count, site->all.calls), kernel);
	}
	fputs("</tbody></table>", to);
}

void page_graph(FILE *to, const struct advice *advice, struct places *places, uint32_t symbol)
{
	struct graph graph = {.profile = advice->profile};
	int width = LEFT + BOX_WIDTH + RIGHT, height;

	graph_add(&graph, symbol);
	if (!graph.n_boxes)
		return;
	graph_find_edges(&graph);
	height = 8 + (graph.n_boxes - 1) * BOX_STEP + BOX_HEIGHT;
	fprintf(to,
		"<div class=\"pair\"><svg role=\"img\" aria-label=\"sequence\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\">",
		width, height, width, height);
	graph_loops(to, &graph);
	graph_flows(to, &graph);
	graph_boxes(to, &graph);
	fputs("</svg><div>", to);
	graph_calls(to, &graph, advice, places);
	graph_words(to, &graph);
	if (graph.cut)
		fputs("<p class=\"weak\">The rest of the sequence is not drawn.</p>", to);
	fputs("</div></div>", to);
}
