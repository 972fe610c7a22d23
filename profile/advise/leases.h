/* SPDX-License-Identifier: MIT */
/*
 * leases.h - checks whether `cosy run` could take leases on files in their present state.  A
 * recording does not contain their owner, their file system, or their other users.
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
 * Returns RUN_SERVED if the library can take a lease, or the reason why it cannot or will not;
 * RUN_REASONS if the file cannot be opened.  Sets *daemon if cosyd would take the lease.
 */
enum run_reason leases_look(void *leases, const struct run_file *file, const char *program,
			    bool *daemon);

void leases_drop(struct leases *leases);

#endif /* COSY_PROFILE_LEASES_H */
