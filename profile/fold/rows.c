// SPDX-License-Identifier: MIT
/* rows.c - see rows.h. */
#include <stdlib.h>

#include "fold/limits.h"
#include "fold/rows.h"

#define MAX_DEPTH  16	/* of loops in loops that are looked into */
#define MAX_SITES  4096 /* of one node */
#define SAME_SHARE 75	/* per cent of the calls that rows share when they are one */

bool rows_create(struct rows *rows, struct profile *profile)
{
	rows->profile = profile;
	profile->rows = calloc(LIMIT_ROWS + 1, sizeof(*profile->rows));
	return profile->rows && table_create(&rows->table, LIMIT_ROWS);
}

void rows_destroy(struct rows *rows)
{
	table_destroy(&rows->table);
}

/* Calls `each` for each site in a symbol. */
static void symbol_sites(struct profile *profile, uint32_t symbol, unsigned int depth,
			 unsigned int *budget, void (*each)(struct site *, uint32_t), uint32_t row)
{
	const struct symbol *of = &profile->symbols[symbol];

	if (!*budget)
		return;
	--*budget;
	if (of->site) {
		if (of->site <= profile->n_sites)
			each(&profile->sites[of->site], row);
		return;
	}
	for (uint32_t i = 0; depth && i < of->len; i++)
		symbol_sites(profile, profile->bodies[of->body + i], depth - 1, budget, each, row);
}

static void site_join(struct site *site, uint32_t row)
{
	if (!site->row)
		site->row = row;
}

static uint64_t row_key(const struct profile *profile, uint32_t core)
{
	const struct symbol *symbol = &profile->symbols[core];
	const struct event_frame *frame;

	if (!symbol->stack)
		return table_mix(7, core);
	frame = &profile->frames[profile->stacks[symbol->stack].first + symbol->skip];
	return table_mix(table_mix(8, frame->object), frame->function);
}

/*
 * Makes a loop represent the row: the place to mark is in this loop, not in another one of its
 * function.
 */
static void row_stand_for(struct profile *profile, struct profile_row *row, uint32_t core)
{
	const struct symbol *symbol = &profile->symbols[core];
	const struct event_frame *frame;

	row->symbol = core;
	if (!symbol->stack)
		return;
	frame = &profile->frames[profile->stacks[symbol->stack].first + symbol->skip];
	row->object = frame->object;
	row->function = frame->function;
	row->address = frame->address;
}

void rows_count(struct rows *rows, const struct grammar_node *node, uint32_t pid)
{
	struct profile *profile = rows->profile;
	struct symbol *core = &profile->symbols[node->core];
	unsigned int budget = MAX_SITES;
	uint32_t number;
	struct profile_row *row;
	bool new;

	if (!node->core) {
		uint32_t site = profile->symbols[node->symbol].site;

		if (site <= profile->n_sites)
			sums_add(&profile->sites[site].outside, &node->sums);
		return;
	}
	number = table_add(&rows->table, row_key(profile, node->core), &new);
	if (!number) {
		profile->forgotten += node->sums.calls;
		return;
	}
	row = &profile->rows[number];
	if (new) {
		profile->n_rows = number;
		row_stand_for(profile, row, node->core);
	}
	if (!core->total)
		row->variants++;
	core->total += node->sums.calls;
	if (core->total > profile->symbols[row->symbol].total)
		row_stand_for(profile, row, node->core);
	if (row->last_process != pid)
		row->processes++;
	row->last_process = pid;
	row->entries += node->entries;
	row->turns += node->turns;
	sums_add(&row->sums, &node->sums);
	symbol_sites(profile, node->symbol, MAX_DEPTH, &budget, site_join, number);
}

/* Finds where the calls of a row's sites are counted, if nearly all are in one other row. */
static void row_merge(struct profile *profile, uint32_t number)
{
	struct profile_row *row = &profile->rows[number], *to;
	uint64_t all = 0, most = 0;
	uint32_t best = 0;
	const struct symbol *symbol = &profile->symbols[row->symbol];

	for (uint32_t i = 0; i < symbol->len; i++) {
		const struct symbol *part = &profile->symbols[profile->bodies[symbol->body + i]];
		uint32_t in;

		/* A call, or the loop of one. */
		if (!part->site && part->len == 1)
			part = &profile->symbols[profile->bodies[part->body]];
		if (!part->site || part->site > profile->n_sites)
			continue;
		in = profile->sites[part->site].row;
		all++;
		if (in != number && in && (in == best || !best)) {
			best = in;
			most++;
		}
	}
	if (!best || 100 * most < SAME_SHARE * all)
		return;
	to = &profile->rows[best];
	while (to->merged)
		to = &profile->rows[to->merged];
	if (to == row)
		return;
	sums_add(&to->sums, &row->sums);
	to->entries += row->entries;
	to->turns += row->turns;
	to->variants += row->variants;
	row->merged = to - profile->rows;
}

void rows_finish(struct rows *rows)
{
	struct profile *profile = rows->profile;

	for (uint32_t i = 1; i <= profile->n_rows; i++)
		row_merge(profile, i);
	for (uint32_t i = 1; i <= profile->n_sites; i++) {
		struct site *site = &profile->sites[i];
		struct profile_row *row;

		if (!site->row)
			continue;
		row = &profile->rows[site->row];
		while (row->merged)
			row = &profile->rows[row->merged];
		site->row = row - profile->rows;
		sums_add(&row->sums, &site->outside);
		site->outside = (struct sums){.calls = 0};
	}
}
