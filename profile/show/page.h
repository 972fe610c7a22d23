/* SPDX-License-Identifier: MIT */
/* page.h - parts of the page that --html writes; see html.c. */
#ifndef COSY_PROFILE_PAGE_H
#define COSY_PROFILE_PAGE_H

#include "show/show.h"

/*
 * Prints a fixed part of the page (page.html), with `programs`, escaped, and the style sheet in the
 * places for them.  Aborts if there is no such part.
 */
void page_part(FILE *to, const char *name, const char *programs);

/* "1,234,567" */
#define PAGE_COUNT 28
const char *page_count(char *to, uint64_t count);

double page_percent(double part, double of);

void page_text(FILE *to, const char *text);

/* Writes the place of a call, or "" where it is not known. */
void page_site(char *to, size_t size, const struct advice *advice, struct places *places,
	       uint32_t site);

/*
 * Draws a sequence: its calls from top to bottom, loops as arcs to the left of them,
 * dependences as arcs to the right; beside it a table of the calls, and the dependences in words.
 */
void page_graph(FILE *to, const struct advice *advice, struct places *places, uint32_t symbol);

/* Draws what each process did over time. */
void page_lanes(FILE *to, const struct profile *profile);

#endif /* COSY_PROFILE_PAGE_H */
