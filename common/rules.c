// SPDX-License-Identifier: MIT
/* rules.c - see rules.h; run/file/policy.h has the form of the text. */
#include <stdlib.h>
#include <string.h>

#include "../run/file/match.h"
#include "path.h"
#include "rules.h"

/* Matches a program by its name, or by its path if the glob contains a slash. */
static bool rule_is_for_program(const char *glob, const char *end, const char *name,
				const char *path)
{
	return policy_match(glob, end, memchr(glob, '/', end - glob) ? path : name);
}

/* Matches a program that is about to be started and has no other name yet. */
static bool rule_is_for_started(const char *glob, const char *end, const char *path)
{
	return rule_is_for_program(glob, end, path_name(path), path);
}

bool rules_leave(const char *text, const struct rules_subject *subject)
{
	/* The first rule that names a setting decides it. */
	int off = -1, alone = -1;

	while (*text) {
		/* `alone` does not apply to the program that `cosy run` itself starts. */
		bool program = true, started = subject->started, file = true, of_file = false;
		int rule_off = -1, rule_alone = -1;

		for (const char *end; *text && *text != '\n'; text = end + 1) {
			const char *from = text + 1;

			end = strchr(text, '\t');
			if (!end)
				return false;
			of_file |= *text == 'f' || *text == 't';
			if (*text == 'p') {
				program &= rule_is_for_program(from, end, subject->name,
							       subject->program);
				started =
					started && rule_is_for_started(from, end, subject->started);
			} else if (*text == 'f')
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
		if (started && !of_file && alone < 0)
			alone = rule_alone;
	}
	return off > 0 || alone > 0;
}
