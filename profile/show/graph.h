/* SPDX-License-Identifier: MIT */
/* graph.h - a sequence as a picture: its calls, loops as arcs above them, dependences as arcs below. */
#ifndef COSY_PROFILE_GRAPH_H
#define COSY_PROFILE_GRAPH_H

#include <stdio.h>

#include "fold/profile.h"

/* Prints an SVG element, and a list of the dependences in words. */
void graph_html(FILE *to, const struct profile *profile, uint32_t symbol);

#endif /* COSY_PROFILE_GRAPH_H */
