/* SPDX-License-Identifier: MIT */
/*
 * policy.h - reads and checks cosy-run.conf(5), and writes its rules as run/file/policy.h has
 * them.
 */
#ifndef COSY_COMMON_POLICY_H
#define COSY_COMMON_POLICY_H

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
 * Adds the rules that `cosy run` takes: those of `only`; or, where it is NULL, the user's and then
 * the administrator's, since for each setting the first one counts.
 */
bool policy_read_all(const char *only, struct policy_text *rules);

/*
 * Adds the size that `cosy run --memory` gives, after all rules.  False, with the reason on
 * standard error, if it is no size.
 */
bool policy_add_memory(const char *text, struct policy_text *rules);

/* Adds a rule that leaves programs alone for each of these patterns, with commas between. */
bool policy_leave_alone(const char *patterns, struct policy_text *rules);

/*
 * Adds a rule that switches off files whose paths match `pattern`; --explain calls its origin
 * `place`.
 */
bool policy_switch_off(const char *place, const char *pattern, struct policy_text *rules);

/* Returns the bits of a list of kinds to relax, or -1; *good is how much of it is right. */
int policy_relax_list(const char *list, size_t len, size_t *good);

#endif /* COSY_COMMON_POLICY_H */
