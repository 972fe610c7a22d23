// SPDX-License-Identifier: MIT
/* line.c - see line.h. */
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "../core/printable.h"
#include "line.h"
#include "syscall.h"

static void line_character(struct line *line, char character)
{
	if (line->len < sizeof(line->text) - 1)
		line->text[line->len++] = character;
}

static void line_text(struct line *line, const char *text)
{
	while (*text)
		line_character(line, *text++);
}

static void line_number(struct line *line, unsigned long number)
{
	char digits[24], *digit = digits + sizeof(digits) - 1;

	*digit = 0;
	do {
		*--digit = '0' + number % 10;
		number /= 10;
	} while (number);
	line_text(line, digit);
}

void line_format(struct line *line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	for (; *format; format++) {
		if (format[0] == '%' && format[1] == 's') {
			line_text(line, va_arg(arguments, const char *));
			format++;
		} else if (format[0] == '%' && format[1] == 'l' && format[2] == 'u') {
			line_number(line, va_arg(arguments, unsigned long));
			format += 2;
		} else {
			line_character(line, *format);
		}
	}
	va_end(arguments);
}

/* Names in the line are those of programs and files, so it is cleaned. */
void line_print(struct line *line, int to)
{
	line->text[line->len] = 0;
	printable_clean(line->text);
	line->len = strlen(line->text);
	line->text[line->len++] = '\n';
	cosy_syscall3(SYS_write, to, (unsigned long)line->text, line->len);
	line->len = 0;
}
