/* SPDX-License-Identifier: MIT */
/*
 * relax.h - predicts the changes by `cosy run --relax`, by the rules of run/relax.
 *
 * trunc: an open with O_TRUNC frees the file's blocks, so overwriting in place is cheaper only for
 * a file that has contents.  The recording shows contents if a file of that name was read or
 * written before.  No other open is counted.
 *
 * coalesce: only writes that come in a row are joined.
 */
#ifndef COSY_PROFILE_RELAX_H
#define COSY_PROFILE_RELAX_H

#include "fold/files.h"
#include "fold/table.h"

/* Of one fold: which names have contents, as far as is known. */
struct relax {
	struct table names;
	uint8_t *contents; /* by number of the name */
};

bool relax_create(struct relax *relax);
void relax_destroy(struct relax *relax);

/* Counts a call, which is on `file` or NULL. */
void relax_count(struct relax *relax, struct fold_process *process, struct open_file *file,
		 const struct event_call *call, enum call_origin origin);

/*
 * Notes the file that a call has opened.  `directory` is the serial of the directory that its name
 * is relative to, because the file may have taken its descriptor.
 */
void relax_opened(struct relax *relax, struct fold_process *process, struct open_file *file,
		  uint64_t directory, const struct event_call *call, enum call_origin origin);

/* Returns that serial, for a call on `file` or NULL. */
static inline uint64_t relax_directory(const struct fold_process *process,
				       const struct open_file *file)
{
	return file ? file->serial : process->directory;
}

/* Adds the rewrites of a file when its last descriptor is closed. */
void relax_closed(struct profile *profile, const struct open_file *file);

#endif /* COSY_PROFILE_RELAX_H */
