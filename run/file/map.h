/* SPDX-License-Identifier: MIT */
/*
 * map.h - makes mapped windows, for random access, and for files that are gone over again and
 * again but are too large for a window that is a copy.
 *
 * A mapped window is all of the file.  It is used like any other, under the lease, but two
 * things are different: it cannot stay when the lease goes, and a page of it may fail to be
 * there.  So a thread that copies counts itself as a reader, then looks at the file's word
 * again.  A thread that takes the mapping away locks the file first, then looks at the count.
 * So if the reader finds the word unchanged, the other thread will find the reader, and leaves
 * the addresses to it.  The copy is made by fault_copy, which survives a page that cannot be
 * read.
 */
#ifndef COSY_RUN_MAP_H
#define COSY_RUN_MAP_H

#include "file/file.h"
#include "file/mapping.h"

#pragma GCC visibility push(hidden)

/* Forgets, for a file that has just been specialised, where it was read. */
void map_forget(struct file *file);

/* True for tests that want mapped windows at once, of any file. */
bool map_eagerly(void);

/*
 * Counts a read of a specialised file that its window cannot serve.  True: the file has earned a
 * mapped window.
 */
bool map_earned(struct file *file, uint64_t offset, size_t len);

/* Gives it one, if its word is `word`.  The word changes in any case: look again. */
void map_make(struct file *file, uint64_t word);

/*
 * Copies from the mapped window of a file that was seen with `word`.  False: there is none,
 * or not for this.  As with every window, what is copied counts only if the word stays.
 */
bool map_copy(struct file *file, uint64_t word, uint64_t offset, void *buf, size_t len);

/* Takes it away, if there is one; under LOCKED. */
void map_drop(struct file *file);

/* Ends mapped windows for good, because of `why`. */
void map_forbid(enum guard why);

#pragma GCC visibility pop

#endif /* COSY_RUN_MAP_H */
