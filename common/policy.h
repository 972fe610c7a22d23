/* SPDX-License-Identifier: MIT */
/*
 * policy.h - reads and checks cosy-run.conf(5), and writes its rules in the form of
 * run/file/policy.h.
 */
#ifndef COSY_COMMON_POLICY_H
#define COSY_COMMON_POLICY_H

#include <stdbool.h>
#include <stddef.h>

struct policy_text {
	char *text; /* rules in the library's form; NULL while there are none */
	size_t len;
	bool relaxes; /* some rule has something to relax */
};

/*
 * Adds the rules of `path` to `rules`.  If the file cannot be read or is wrong, prints the place
 * and the reason on standard error and returns false.  An `optional` file may be missing.
 */
bool policy_read(const char *path, bool optional, struct policy_text *rules);

/*
 * Adds the rules that `cosy run` applies: those of the file `only`.  If that is NULL, adds the
 * user's and then the administrator's, because the first rule for a setting counts.
 */
bool policy_read_all(const char *only, struct policy_text *rules);

/*
 * Adds the size of `cosy run --memory`, after all rules.  If it is no size, prints the reason on
 * standard error and returns false.
 */
bool policy_add_memory(const char *text, struct policy_text *rules);

/* Adds a rule that leaves programs alone for each of these patterns, with commas between. */
bool policy_leave_alone(const char *patterns, struct policy_text *rules);

/*
 * Adds a rule that switches off files whose paths match `pattern`; --explain calls its origin
 * `place`.
 */
bool policy_switch_off(const char *place, const char *pattern, struct policy_text *rules);

/* Returns the bits of a list of kinds to relax, or -1 and in *good the length of the valid part. */
int policy_relax_list(const char *list, size_t len, size_t *good);

#endif /* COSY_COMMON_POLICY_H */
