/* SPDX-License-Identifier: MIT */
/*
 * policy.h - finds the rules of cosy-run.conf(5) for a file.  `cosy run` has read and checked the
 * configuration.  It passes the rules that the library needs in the environment variable
 * COSY_RUN_POLICY (environment.h), which is read when the first file has earned a window.
 *
 * One line for each rule, in the order in which they count, of fields that end with a tab:
 *
 *	oPLACE		where the rule stands, for --explain
 *	pGLOB fGLOB tHEX	program, file, file system by statfs(2)'s f_type: all must match
 *	s0 s1		off, on
 *	a1 a0		alone, preloaded
 *	rBITS		RELAX_TRUNC and its like, decimal
 *	wBYTES mBYTES	largest window; memory for windows, in the whole process
 */
#ifndef COSY_RUN_POLICY_H
#define COSY_RUN_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define POLICY_VARIABLE "COSY_RUN_POLICY"

enum { RELAX_TRUNC = 1, RELAX_COALESCE = 2, RELAX_REFLINK = 4 };

#pragma GCC visibility push(hidden)

struct policy {
	bool off;
	unsigned int relax; /* of `relax` below, unless a rule says otherwise */
	uint64_t window;    /* UINT64_MAX: as large as the library likes */
	char place[96];	    /* of the first rule that said anything; "" */
};

/* Finds the policy for the file that `fd` names.  `relax` is the command line's. */
void policy_find(int fd, unsigned int relax, struct policy *ret);

/* True if any rule relaxes something. */
bool policy_relaxes(void);

/* Bytes, unless a rule or `cosy run --memory` says how many. */
#define POLICY_MEMORY (32ULL << 20)

/* True if the program of this path, or name, is to be started without the library. */
bool policy_alone(const char *path);

/* Returns the bytes that windows may take in this process. */
uint64_t policy_memory(void);

/*
 * Returns the bytes of addresses that windows may take: a small part of what the program has been
 * limited to (RLIMIT_AS, RLIMIT_DATA).  The second is called when the limits have changed.
 */
uint64_t policy_addresses(void);
void policy_limits_changed(void);

#pragma GCC visibility pop

#endif /* COSY_RUN_POLICY_H */
