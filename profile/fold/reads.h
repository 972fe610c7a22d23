/* SPDX-License-Identifier: MIT */
/* reads.h - the result of a read under `cosy run`, by the rules of run/file/. */
#ifndef COSY_PROFILE_READS_H
#define COSY_PROFILE_READS_H

#include "fold/files.h"
#include "fold/table.h"

/* Counts a call that reads or moves a file's position.  `names`: numbers of profile.run_files. */
void reads_count(struct profile *profile, struct table *names, struct fold_process *process,
		 struct open_file *file, const struct event_call *call, enum call_origin origin);

#endif /* COSY_PROFILE_READS_H */
