// SPDX-License-Identifier: MIT
/* page.c - prints the fixed parts of page.html; see page.h. */
#include <stdlib.h>
#include <string.h>

#include "show/page.h"

/* page.html and page.css, from page.S. */
extern const char page_html[], page_css[];

/* Returns a part of page.html, and its length. */
static const char *part_find(const char *name, size_t *len)
{
	char mark[64];
	const char *begin, *end;

	snprintf(mark, sizeof(mark), "\n<!-- part %s -->\n", name);
	begin = strstr(page_html, mark);
	if (!begin)
		abort();
	begin += strlen(mark);
	end = strstr(begin, "\n<!-- part ");
	*len = end ? (size_t)(end + 1 - begin) : strlen(begin);
	return begin;
}

void page_part(FILE *to, const char *name, const char *programs)
{
	static const char programs_mark[] = "{programs}", style_mark[] = "{style}";
	size_t len;
	const char *at = part_find(name, &len), *end = at + len;

	while (at < end) {
		size_t plain = strcspn(at, "{");

		if (plain > (size_t)(end - at))
			plain = end - at;
		fwrite(at, plain, 1, to);
		at += plain;
		if (at == end)
			return;
		if (!strncmp(at, programs_mark, sizeof(programs_mark) - 1)) {
			page_text(to, programs);
			at += sizeof(programs_mark) - 1;
		} else if (!strncmp(at, style_mark, sizeof(style_mark) - 1)) {
			fputs(page_css, to);
			at += sizeof(style_mark) - 1;
		} else {
			abort();
		}
	}
}
