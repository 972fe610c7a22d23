/* SPDX-License-Identifier: MIT */
/* policy.h - cosy-run.conf(5): read, checked, and put into the form of preload/file/policy.h. */
#ifndef COSY_TOOLS_POLICY_H
#define COSY_TOOLS_POLICY_H

#include <stdbool.h>
#include <stddef.h>

struct policy_text {
	char *text; /* rules as the library reads them; NULL while there are none */
	size_t len;
	bool relaxes; /* some rule has something to relax */
};

/*
 * Adds the rules of `path` to `rules`.  False, with the place and the reason on standard error,
 * if it cannot be read or is wrong.  A file that is not there is fine if it is `optional`.
 */
bool policy_read(const char *path, bool optional, struct policy_text *rules);

/*
 * Adds what `cosy run --memory` says, after all rules.  False, with the reason on standard error,
 * if it is no size.
 */
bool policy_add_memory(const char *text, struct policy_text *rules);

/* Adds a rule that leaves programs alone for each of these patterns, with commas between. */
bool policy_leave_alone(const char *patterns, struct policy_text *rules);

/* Adds a rule, of what is called `place`, that switches off files whose paths match `pattern`. */
bool policy_switch_off(const char *place, const char *pattern, struct policy_text *rules);

/* The bits of a list of kinds to relax, or -1, and in *good the length of what was read. */
int policy_relax_list(const char *list, size_t len, size_t *good);

#endif /* COSY_TOOLS_POLICY_H */
