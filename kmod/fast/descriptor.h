/* SPDX-License-Identifier: GPL-2.0 */
/*
 * descriptor.h - remembers the files of descriptors that a RUN has used, so that fdget, and the
 * check that the page cache has the file's bytes, need not be repeated.
 *
 * fdget takes no reference while the fd table is unshared, because only the task itself can change
 * the table.  The same holds here: a compound changes the table only by ordinary calls, and each
 * ordinary call and each safepoint makes the RUN forget all descriptors.  With a shared table
 * nothing is remembered.
 */
#ifndef COSY_DESCRIPTOR_H
#define COSY_DESCRIPTOR_H

#include <linux/fdtable.h>
#include <linux/file.h>
#include "compat/compat.h"
#include "fast/page_cache.h"

/* Forgets all descriptors.  call.S does so, too, before each ordinary call. */
static __always_inline void cosy_descriptors_forget(struct cosy_descriptors *known)
{
	int i;

	for (i = 0; i < COSY_KNOWN / 2; i++)
		known->pair[i] = COSY_KNOWN_NONE;
}

/* Starts a RUN with none known.  Clears the files, too, so that a mispredicted test finds none. */
static __always_inline void cosy_descriptors_init(struct cosy_descriptors *known)
{
	int i;

	for (i = 0; i < COSY_KNOWN; i++)
		known->file[i] = (struct fd){};
	cosy_descriptors_forget(known);
}

/* Slow path of cosy_descriptor_get, for a descriptor that is not known. */
struct fd cosy_descriptor_look_up(struct cosy_activation *run, u32 number);

/*
 * Does fdget for a file that cosy_cached_file accepts; the caller does fdput.  Without a file
 * run->refused is the guard that failed, LIMITED where the descriptor has none at all.
 */
static __always_inline struct fd cosy_descriptor_get(struct cosy_activation *run, u32 number)
{
	const u32 slot = number % COSY_KNOWN;

	/* All that cosy_cached_file looks at but O_DIRECT stays as it is while the file is open. */
	if (likely(run->descriptors.number[slot] == number &&
		   !(fd_file(run->descriptors.file[slot])->f_flags & O_DIRECT)))
		return run->descriptors.file[slot];
	return cosy_descriptor_look_up(run, number);
}

/*
 * Returns whether nobody shares the task's table, as fdget finds out.  Only the task itself can
 * begin to share it, so that this holds until it makes a call.
 */
static __always_inline bool cosy_descriptors_are_own(void)
{
	return atomic_read_acquire(&current->files->count) == 1;
}

/*
 * Remembers a file that cosy_cached_file accepts, which the task has just opened as `number`.  The
 * table was its own before the descriptor was put there: otherwise others may have closed it.
 */
static __always_inline void cosy_descriptor_note(struct cosy_activation *run, u32 number,
						 struct file *file)
{
	const u32 slot = number % COSY_KNOWN;

	run->descriptors.file[slot] = cosy_fd_borrowed(file);
	run->descriptors.number[slot] = number;
}

#endif /* COSY_DESCRIPTOR_H */
