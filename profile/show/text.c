// SPDX-License-Identifier: MIT
/* text.c - prints text that a watched program chose, without harm; see show.h. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "../core/printable.h"
#include "fold/programs.h"
#include "show/show.h"

static void show_escaped(FILE *to, unsigned int c, enum show_escape escape)
{
	if (escape == SHOW_JSON && c >= 0x10000)
		fprintf(to, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
	else if (escape == SHOW_JSON)
		fprintf(to, "\\u%04x", c);
	else if (escape == SHOW_HTML)
		fprintf(to, "&#%u;", c);
	else
		putc('?', to);
}

/* True if the text has more characters than that. */
static bool text_longer(const unsigned char *at, unsigned int characters)
{
	unsigned int len;

	for (; *at && characters; characters--) {
		printable_character(at, &len);
		at += len;
	}
	return *at;
}

void show_text(FILE *to, const char *text, enum show_escape escape, unsigned int width)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned int len;

	for (unsigned int n = 0; *at; at += len, n++) {
		unsigned int c = printable_character(at, &len);

		if (width && n + 2 >= width && text_longer(at, width - n)) {
			fputs("..", to);
			return;
		}
		if (c == 0xfffd) {
			fputs(escape == SHOW_TERMINAL ? "?" : "\xef\xbf\xbd", to);
		} else if (printable_controls(c)) {
			/* An escaped control would still be a control in a page. */
			if (escape == SHOW_HTML)
				fputs("\xef\xbf\xbd", to);
			else
				show_escaped(to, c, escape);
		} else if (c < 0x80 && ((escape == SHOW_JSON && strchr("\"\\<>&", c)) ||
					(escape == SHOW_HTML && strchr("\"'<>&`", c)))) {
			show_escaped(to, c, escape);
		} else {
			fwrite(at, len, 1, to);
		}
	}
}

#define NAMED_PROGRAMS 3

void show_programs(char *to, size_t size, const struct profile *profile)
{
	uint32_t numbers[MAX_PROGRAMS], n = programs_order(&profile->programs, numbers);
	uint32_t named = n > NAMED_PROGRAMS ? NAMED_PROGRAMS - 1 : n;
	size_t used;

	snprintf(to, size, "%s",
		 n		     ? profile->programs.of[numbers[0]].path
		 : *profile->program ? profile->program
				     : "no program");
	for (uint32_t i = 1; i < named; i++) {
		used = strlen(to);
		snprintf(to + used, size - used, "%s%s", i + 1 == n ? " and " : ", ",
			 profile->programs.of[numbers[i]].path);
	}
	used = strlen(to);
	if (named < n)
		snprintf(to + used, size - used, " and %u other programs", n - named);
}

double show_saving(double ns, double of)
{
	double ret = of > 0 ? round(100 * ns / of) + 0.0 : 0;

	return ret > 100 ? 100 : ret < -100 ? -100 : ret;
}

void show_times(char *to, size_t size, double low, double high)
{
	char from[32], until[32];

	advise_time(from, sizeof(from), low);
	advise_time(until, sizeof(until), high);
	if (strcmp(from, until))
		snprintf(to, size, "%s to %s", from, until);
	else
		snprintf(to, size, "about %s", from);
}
