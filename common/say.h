/* SPDX-License-Identifier: MIT */
/* say.h - prints messages of one line each; replaces control characters (core/printable.h). */
#ifndef COSY_COMMON_SAY_H
#define COSY_COMMON_SAY_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../core/printable.h"

/* Prints the formatted text, with control characters replaced, and a newline. */
static inline void say_list(FILE *to, const char *format, va_list args)
{
	char *line = NULL;

	if (vasprintf(&line, format, args) < 0)
		return;
	printable_clean(line);
	fprintf(to, "%s\n", line);
	free(line);
}

__attribute__((format(printf, 2, 3))) static inline void say_to(FILE *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_list(to, format, args);
	va_end(args);
}

/* Prints a message on standard error. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_list(stderr, format, args);
	va_end(args);
}

#endif /* COSY_COMMON_SAY_H */
