// SPDX-License-Identifier: MIT
/* grammar.c - see grammar.h. */
#include <stdlib.h>
#include <string.h>

#include "fold/grammar.h"

/* An inner loop counts in place of the outer one when it has so much of the calls, per cent, */
#define CORE_SHARE 80
/* and is long enough for a region of its own. */
#define CORE_TURNS 32

void sums_add(struct sums *to, const struct sums *from)
{
	to->calls += from->calls;
	to->errors += from->errors;
	to->cpu += from->cpu;
	to->user += from->user;
	to->took += from->took;
	to->slept += from->slept;
	to->paths += from->paths;
	for (int i = 0; i < CLASSES; i++) {
		to->of[i].calls += from->of[i].calls;
		to->of[i].cpu += from->of[i].cpu;
	}
}

struct grammar_line *line_create(uint32_t max)
{
	struct grammar_line *line = malloc(sizeof(*line) + max * sizeof(*line->nodes));

	if (line) {
		line->n = 0;
		line->max = max;
		line->overflown = false;
	}
	return line;
}

bool grammar_create(struct grammar *grammar, struct profile *profile, uint32_t max_symbols)
{
	grammar->profile = profile;
	grammar->max_symbols = max_symbols;
	grammar->max_bodies = 8 * max_symbols;
	profile->symbols = calloc(max_symbols + 1, sizeof(*profile->symbols));
	profile->bodies = calloc(grammar->max_bodies, sizeof(*profile->bodies));
	return profile->symbols && profile->bodies && table_create(&grammar->symbols, max_symbols);
}

void grammar_destroy(struct grammar *grammar)
{
	table_destroy(&grammar->symbols);
}

static const struct symbol *symbol_of(const struct grammar *grammar, uint32_t symbol)
{
	return &grammar->profile->symbols[symbol];
}

static uint32_t match_of(const struct grammar *grammar, const struct grammar_node *node)
{
	return grammar->profile->symbols[node->symbol].match;
}

uint32_t grammar_site(struct grammar *grammar, uint32_t site)
{
	bool new;
	uint32_t number = table_add(&grammar->symbols, table_mix(1, site), &new);

	if (new) {
		struct symbol *symbol = &grammar->profile->symbols[number];
		uint32_t stack = grammar->profile->sites[site].stack;

		grammar->profile->n_symbols = number;
		symbol->site = site;
		symbol->match = number;
		symbol->calls = 1;
		symbol->stack = stack;
		symbol->skip = stack ? grammar->profile->stacks[stack].user : 0;
	}
	return number;
}

/* Leaves the symbol the innermost function that calls of both come from. */
static void symbol_common(const struct profile *profile, struct symbol *symbol,
			  const struct symbol *with)
{
	const struct stack *one = &profile->stacks[symbol->stack], *other;

	if (!symbol->stack || !with->stack) {
		symbol->stack = 0;
		return;
	}
	other = &profile->stacks[with->stack];
	for (uint32_t i = symbol->skip; i < one->len; i++) {
		const struct event_frame *frame = &profile->frames[one->first + i];

		for (uint32_t j = with->skip; frame->function && j < other->len; j++) {
			const struct event_frame *same = &profile->frames[other->first + j];

			if (same->function == frame->function && same->object == frame->object) {
				symbol->skip = i;
				return;
			}
		}
	}
	symbol->stack = 0;
}

/* Returns the loop whose body these nodes are; 0: the tables are full. */
static uint32_t grammar_loop(struct grammar *grammar, const struct grammar_node *nodes,
			     uint32_t len)
{
	struct profile *profile = grammar->profile;
	uint64_t hash = 2;
	uint32_t number, site;
	struct symbol *symbol;
	bool new;

	for (uint32_t i = 0; i < len; i++)
		hash = table_mix(hash, match_of(grammar, &nodes[i]));
	if (profile->n_bodies + len > grammar->max_bodies)
		return table_find(&grammar->symbols, hash);
	number = table_add(&grammar->symbols, hash, &new);
	if (!new)
		return number;
	symbol = &profile->symbols[number];
	profile->n_symbols = number;
	symbol->body = profile->n_bodies;
	symbol->len = len;
	*symbol = (struct symbol){
		.body = profile->n_bodies,
		.len = len,
		.match = number,
		.stack = symbol_of(grammar, nodes[0].symbol)->stack,
		.skip = symbol_of(grammar, nodes[0].symbol)->skip,
	};
	for (uint32_t i = 0; i < len; i++) {
		const struct symbol *part = symbol_of(grammar, nodes[i].symbol);

		profile->bodies[profile->n_bodies++] = nodes[i].symbol;
		symbol->calls += part->calls;
		if (i)
			symbol_common(profile, symbol, part);
	}
	/* Let a repeated call match a single one. */
	site = symbol_of(grammar, nodes[0].symbol)->site;
	if (len == 1 && site)
		symbol->match = nodes[0].symbol;
	return number;
}

static bool same_nodes(const struct grammar *grammar, const struct grammar_node *a,
		       const struct grammar_node *b, uint32_t len)
{
	for (uint32_t i = len; i--;)
		if (match_of(grammar, &a[i]) != match_of(grammar, &b[i]))
			return false;
	return true;
}

static bool is_body(const struct grammar *grammar, const struct symbol *loop,
		    const struct grammar_node *nodes)
{
	for (uint32_t i = loop->len; i--;)
		if (symbol_of(grammar, grammar->profile->bodies[loop->body + i])->match !=
		    match_of(grammar, &nodes[i]))
			return false;
	return true;
}

/* Returns the inner loop that counts in place of one made of these nodes, or 0. */
static uint32_t core_of(const struct grammar_node *nodes, uint32_t n, uint64_t calls)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t its = 0, entries = 0, turns = 0;

		if (!nodes[i].core)
			continue;
		for (uint32_t j = i; j < n; j++)
			if (nodes[j].core == nodes[i].core) {
				its += nodes[j].sums.calls;
				entries += nodes[j].entries;
				turns += nodes[j].turns;
			}
		if (its * 100 >= calls * CORE_SHARE && turns >= CORE_TURNS * entries)
			return nodes[i].core;
	}
	return 0;
}

/* Replaces the last `n` nodes, two turns of `loop`, by the loop. */
static void line_fold(struct grammar_line *line, uint32_t n, uint32_t loop)
{
	struct grammar_node *to = &line->nodes[line->n - n];
	uint64_t calls = 0, entries = 0, turns = 0;
	uint32_t core;

	for (uint32_t i = 0; i < n; i++)
		calls += to[i].sums.calls;
	core = core_of(to, n, calls);
	for (uint32_t i = 0; i < n; i++)
		if (core && to[i].core == core) {
			entries += to[i].entries;
			turns += to[i].turns;
		}
	to->symbol = loop;
	to->core = core ? core : loop;
	to->entries = core ? entries : 1;
	to->turns = core ? turns : 2;
	for (uint32_t i = 1; i < n; i++)
		sums_add(&to->sums, &to[i].sums);
	line->n -= n - 1;
}

/* Adds the last `len` nodes, one more turn, to the loop before them. */
static void line_absorb(struct grammar_line *line, uint32_t len)
{
	struct grammar_node *loop = &line->nodes[line->n - len - 1];

	if (loop->core == loop->symbol)
		loop->turns++;
	for (uint32_t i = 1; i <= len; i++) {
		if (loop->core != loop->symbol && loop[i].core == loop->core) {
			loop->entries += loop[i].entries;
			loop->turns += loop[i].turns;
		}
		sums_add(&loop->sums, &loop[i].sums);
	}
	line->n -= len;
}

/* True if two nodes match: two calls, a call and its loop, or a loop and itself. */
static bool line_join(struct grammar *grammar, struct grammar_line *line)
{
	struct grammar_node *a = &line->nodes[line->n - 2], *b = a + 1;
	uint32_t site_a = symbol_of(grammar, a->symbol)->site;
	uint32_t site_b = symbol_of(grammar, b->symbol)->site;
	uint32_t loop;

	if (site_a && site_b) {
		loop = grammar_loop(grammar, a, 1);
		if (!loop)
			return false;
		line_fold(line, 2, loop);
		return true;
	}
	if (site_a) {
		a->symbol = b->symbol;
		a->core = b->core;
		a->entries = b->entries;
		a->turns = b->turns + 1;
	} else if (site_b) {
		a->turns++;
	} else {
		a->entries += b->entries;
		a->turns += b->turns;
	}
	sums_add(&a->sums, &b->sums);
	line->n--;
	return true;
}

static bool line_shorten(struct grammar *grammar, struct grammar_line *line)
{
	uint32_t n = line->n, last;

	if (n < 2)
		return false;
	last = match_of(grammar, &line->nodes[n - 1]);
	if (match_of(grammar, &line->nodes[n - 2]) == last && line_join(grammar, line))
		return true;
	for (uint32_t len = 1; len <= GRAMMAR_MAX_BODY && len < n; len++) {
		const struct symbol *before = symbol_of(grammar, line->nodes[n - 1 - len].symbol);
		uint32_t loop;

		if (!before->site && before->len == len &&
		    is_body(grammar, before, &line->nodes[n - len])) {
			line_absorb(line, len);
			return true;
		}
		if (len < 2 || 2 * len > n ||
		    match_of(grammar, &line->nodes[n - 1 - len]) != last ||
		    !same_nodes(grammar, &line->nodes[n - 2 * len], &line->nodes[n - len], len))
			continue;
		loop = grammar_loop(grammar, &line->nodes[n - len], len);
		if (!loop)
			return false;
		line_fold(line, 2 * len, loop);
		return true;
	}
	return false;
}

bool grammar_add(struct grammar *grammar, struct grammar_line *line, uint32_t symbol,
		 const struct sums *sums, struct grammar_node *left)
{
	bool full = line->n == line->max;
	struct grammar_node *node;

	if (full) {
		*left = line->nodes[0];
		line->overflown = true;
		memmove(line->nodes, line->nodes + 1, --line->n * sizeof(*line->nodes));
	}
	node = &line->nodes[line->n++];
	node->symbol = symbol;
	node->core = 0;
	node->entries = node->turns = 0;
	node->sums = *sums;
	while (line_shorten(grammar, line))
		continue;
	return full;
}
