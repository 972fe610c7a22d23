/* SPDX-License-Identifier: MIT */
/*
 * show.h - advice for a person and for programs.  Whatever a watched program chose is made
 * harmless.
 */
#ifndef COSY_PROFILE_SHOW_H
#define COSY_PROFILE_SHOW_H

#include <stdio.h>

#include "advise/advise.h"
#include "advise/place.h"

enum show_escape { SHOW_TERMINAL, SHOW_JSON, SHOW_HTML };

/*
 * Prints text so that it can be nothing but text there; at most `width` characters, 0: all.  Text
 * that is cut ends in two dots.
 */
void show_text(FILE *to, const char *text, enum show_escape escape, unsigned int width);

/*
 * Writes "function (file:line) in object": the address stands for the line where that is not known,
 * and "unnamed" for the function.
 */
void show_place(char *to, size_t size, struct places *places, const struct advice *advice,
		const struct finding *finding);

/* Finds the line of a finding's calls. */
struct place show_line_of(struct places *places, const struct advice *advice,
			  const struct finding *finding);

/* Writes the command that marks a region's loop.  False: its line is not known. */
bool show_suggested(char *to, size_t size, struct places *places, const struct advice *advice,
		    const struct finding *finding);

/* Returns the label of a finding's next step. */
const char *show_next(const struct finding *finding);

/* Writes the names of the programs that made the calls, most calls first, as they are. */
void show_programs(char *to, size_t size, const struct profile *profile);

/* Returns the back end's name, such as "tracepoints". */
const char *show_backend(const struct profile *profile);

/* Returns whole per cent of the processor time, within 100, and never -0. */
double show_saving(double ns, double of);

/* Writes a range of times, "1.2 ms to 3.4 ms", or "about 1.2 ms" where both ends read alike. */
#define SHOW_RANGE 72
void show_times(char *to, size_t size, double low, double high);

/* Prints the summary, one screen. */
void show_terminal(FILE *to, const struct advice *advice, struct places *places);

/* Prints all of it; docs/use/profile-json.md has the fields. */
void show_json(FILE *to, const struct advice *advice, struct places *places);

/* Prints one page, which asks for nothing from anywhere. */
void show_html(FILE *to, const struct advice *advice, struct places *places);

#endif /* COSY_PROFILE_SHOW_H */
