/* SPDX-License-Identifier: MIT */
/*
 * leases.h - looks whether `cosy run` could have leases on files, as they are now: a recording does
 * not say whose they are, where they are, or who else has them open.
 */
#ifndef COSY_PROFILE_LEASES_H
#define COSY_PROFILE_LEASES_H

#include "../common/policy.h"
#include "advise/advise.h"

struct leases {
	bool begun; /* the rules of cosy-run.conf(5) have been read */
	struct policy_text rules;
	enum { COSYD_UNKNOWN, COSYD_ANSWERS, COSYD_SILENT } daemon;
};

/*
 * Returns RUN_SERVED if a lease can be had, or why none can, or will; RUN_REASONS if the file cannot
 * be looked at.  A lease of cosyd's sets *daemon.
 */
enum run_reason leases_look(void *leases, const struct run_file *file, const char *program,
			    bool *daemon);

void leases_drop(struct leases *leases);

#endif /* COSY_PROFILE_LEASES_H */
