// SPDX-License-Identifier: MIT
/* graph.c - see graph.h. */
#include "advise/advise.h"
#include "calls.h"
#include "show/graph.h"

#define MAX_BOXES 14
#define MAX_ARCS  24
#define BOX_WIDTH 104 /* with the gap to the next */
#define BOX	  92
#define DEPENDS	  8 /* that are shown, the most frequent first */

struct graph {
	const struct profile *profile;
	uint32_t sites[MAX_BOXES];
	unsigned int n_boxes, n_arcs;
	struct {
		unsigned int from, to;
	} arcs[MAX_ARCS];
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
	return 6 + box * BOX_WIDTH + BOX / 2;
}

/* Longer loops have higher arcs, and none leaves the picture. */
static void graph_loops(FILE *to, const struct graph *graph, int top)
{
	for (unsigned int i = 0; i < graph->n_arcs; i++) {
		unsigned int from = graph->arcs[i].from, last = graph->arcs[i].to;
		int left = box_middle(from) - 12, right = box_middle(last) + 12;
		int height = 18 + 8 * (last - from);

		fprintf(to, "<path class=\"loop\" d=\"M%d,%d C%d,%d %d,%d %d,%d\"/>", right, top,
			right, top - height, left, top - height, left, top);
	}
}

static void graph_boxes(FILE *to, const struct graph *graph, int top)
{
	for (unsigned int i = 0; i < graph->n_boxes; i++) {
		const struct site *site = &graph->profile->sites[graph->sites[i]];
		int middle = box_middle(i);

		fprintf(to,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"34\" rx=\"6\"/>"
			"<text x=\"%d\" y=\"%d\">%s</text><text class=\"kind\" x=\"%d\" "
			"y=\"%d\">%s</text>",
			middle - BOX / 2, top, BOX, middle, top + 15, call_kind(site->nr)->name,
			middle, top + 28, advise_file_kinds[site->file]);
		if (i)
			fprintf(to, "<path class=\"next\" d=\"M%d,%d H%d\"/>",
				middle - BOX_WIDTH + BOX / 2, top + 17, middle - BOX / 2);
	}
}

static int box_of(const struct graph *graph, uint32_t site)
{
	for (unsigned int i = 0; i < graph->n_boxes; i++)
		if (graph->sites[i] == site)
			return i;
	return -1;
}

/* Those between calls of the picture that mostly held. */
static unsigned int graph_edges(const struct graph *graph, const struct edge **ret)
{
	const struct profile *profile = graph->profile;
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
	return n;
}

void graph_html(FILE *to, const struct profile *profile, uint32_t symbol)
{
	struct graph graph = {.profile = profile};
	const struct edge *edges[DEPENDS];
	unsigned int n;
	int top, width, height, span = 0;

	graph_add(&graph, symbol);
	if (!graph.n_boxes)
		return;
	n = graph_edges(&graph, edges);
	/* A curve's end points are two thirds as far away as its handles. */
	top = 24 + 6 * graph.n_boxes;
	width = graph.n_boxes * BOX_WIDTH + 12;
	for (unsigned int i = 0; i < n; i++) {
		int boxes = box_of(&graph, edges[i]->to) - box_of(&graph, edges[i]->from);

		boxes = boxes < 0 ? -boxes : boxes;
		span = boxes > span ? boxes : span;
	}
	height = top + 34 + (n ? 24 + 6 * span : 6);
	fprintf(to,
		"<div class=\"scroll\"><svg role=\"img\" aria-label=\"sequence\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\">",
		width, height, width, height);
	graph_loops(to, &graph, top);
	graph_boxes(to, &graph, top);
	for (unsigned int i = 0; i < n; i++) {
		int from = box_of(&graph, edges[i]->from), last = box_of(&graph, edges[i]->to);
		int depth = 20 + 8 * (last > from ? last - from : from - last);

		fprintf(to, "<path class=\"flow %s\" d=\"M%d,%d C%d,%d %d,%d %d,%d\"/>",
			advise_edge_kinds[edges[i]->kind], box_middle(from), top + 34,
			box_middle(from), top + 34 + depth, box_middle(last) - 6, top + 34 + depth,
			box_middle(last) - 6, top + 34);
	}
	fputs("</svg></div>", to);
	if (graph.cut)
		fputs("<p>The rest of the sequence is not drawn.</p>", to);
	if (n)
		fputs("<ul class=\"flows\">", to);
	for (unsigned int i = 0; i < n; i++)
		fprintf(to, "<li>%s to %s: the same %s in %.0f %%</li>",
			call_kind(profile->sites[edges[i]->from].nr)->name,
			call_kind(profile->sites[edges[i]->to].nr)->name,
			advise_edge_kinds[edges[i]->kind],
			100.0 * edges[i]->held / profile->sites[edges[i]->to].all.calls);
	if (n)
		fputs("</ul>", to);
}
