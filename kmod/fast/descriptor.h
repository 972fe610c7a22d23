/* SPDX-License-Identifier: GPL-2.0 */
/*
 * descriptor.h - the files of descriptors that a RUN has used: what fdget answered, and
 * that it is a file whose bytes are its page cache's, need not be asked again.
 *
 * fdget takes no reference where nobody shares the table of descriptors, since then only
 * the task itself can change it.  So it is here: what a compound may do to the table it
 * does by ordinary calls, each of which has all forgotten, and so has each safepoint.  With a
 * table that is shared nothing is remembered.
 */
#ifndef COSY_DESCRIPTOR_H
#define COSY_DESCRIPTOR_H

#include <linux/file.h>
#include "compat/compat.h"
#include "fast/page_cache.h"

/* Also done by call.S, before each ordinary call. */
static __always_inline void cosy_descriptors_forget(struct cosy_activation *run)
{
	int i;

	for (i = 0; i < COSY_KNOWN / 2; i++)
		run->known_pair[i] = COSY_KNOWN_NONE;
}

/* The start of a RUN; nothing is there for a wrong guess either. */
static __always_inline void cosy_descriptors_init(struct cosy_activation *run)
{
	int i;

	for (i = 0; i < COSY_KNOWN; i++)
		run->known[i] = (struct fd){};
	cosy_descriptors_forget(run);
}

/* cosy_descriptor_get of one that is not known. */
struct fd cosy_descriptor_look_up(struct cosy_activation *run, u32 number);

/*
 * fdget of a cosy_cached_file; fdput is due.  Without a file: run->refused is the guard
 * that failed, LIMITED where there is none at all.
 */
static __always_inline struct fd cosy_descriptor_get(struct cosy_activation *run, u32 number)
{
	const u32 slot = number % COSY_KNOWN;

	/* All but O_DIRECT is for as long as the file is open. */
	if (likely(run->known_number[slot] == number &&
		   !(fd_file(run->known[slot])->f_flags & O_DIRECT)))
		return run->known[slot];
	return cosy_descriptor_look_up(run, number);
}

#endif /* COSY_DESCRIPTOR_H */
