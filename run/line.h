/* SPDX-License-Identifier: MIT */
/* line.h - builds and prints a line of text without libc; a signal handler may do so. */
#ifndef COSY_RUN_LINE_H
#define COSY_RUN_LINE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* A line under construction.  What does not fit is left out. */
struct line {
	char text[400];
	size_t len;
};

/* Appends text.  Of printf's conversions, `format` may have %s and %lu. */
void line_format(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the line to a descriptor, with a newline, and empties it. */
void line_print(struct line *line, int to);

#pragma GCC visibility pop

#endif /* COSY_RUN_LINE_H */
