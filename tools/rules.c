// SPDX-License-Identifier: MIT
/* rules.c - see rules.h; preload/file/policy.h has the form of the text. */
#include <stdlib.h>
#include <string.h>

#include "../preload/file/match.h"
#include "rules.h"

static bool rule_is_for_program(const char *glob, const char *end, const char *program)
{
	const char *slash = strrchr(program, '/');

	if (!memchr(glob, '/', end - glob) && slash)
		program = slash + 1;
	return policy_match(glob, end, program);
}

bool rules_leave(const char *text, const struct rules_subject *subject)
{
	/* The first rule that names a setting decides it. */
	int off = -1, alone = -1;

	while (*text) {
		bool program = true, file = true, of_file = false;
		int rule_off = -1, rule_alone = -1;

		for (const char *end; *text && *text != '\n'; text = end + 1) {
			const char *from = text + 1;

			end = strchr(text, '\t');
			if (!end)
				return false;
			of_file |= *text == 'f' || *text == 't';
			if (*text == 'p')
				program &= rule_is_for_program(from, end, subject->program);
			else if (*text == 'f')
				file &= policy_match(from, end, subject->file);
			else if (*text == 't')
				file &= strtoul(from, NULL, 16) == subject->type;
			else if (*text == 's')
				rule_off = *from == '0';
			else if (*text == 'a')
				rule_alone = *from == '1';
		}
		text += *text == '\n';
		if (program && file && off < 0)
			off = rule_off;
		/* A program is started before it has a file. */
		if (program && !of_file && alone < 0)
			alone = rule_alone;
	}
	return off > 0 || alone > 0;
}
