/* SPDX-License-Identifier: MIT */
/*
 * map.h - mapped windows: for random access, and for files that are gone over again and
 * again but are too large for a window that is a copy.
 *
 * A mapped window is all of the file.  It is used like any other, under the lease, but two
 * things are different: it cannot stay when the lease goes, and a page of it may fail to be
 * there.  So whoever copies counts himself as a reader, then looks at the file's word
 * again: if it is still the same, whoever takes the mapping away (who holds the file first,
 * and then looks at the count) will find him there, and leaves the addresses to him.  And it
 * is copied by fault_copy, which a page that cannot be read does not kill.
 */
#ifndef COSY_PRELOAD_MAP_H
#define COSY_PRELOAD_MAP_H

#include "file/file.h"

#pragma GCC visibility push(hidden)

/* ns; mmap, advice, munmap. */
#define COST_OF_MAP 20000

struct map {
	const unsigned char *data;
	uint64_t len;
	int readers; /* of this map, whichever file's it is or was */
	int state;
	unsigned long reads; /* by it; low when threads race */
};

/* A file has just been specialised: nothing is known about where it is read. */
void map_forget(struct file *file);

/* Tests may want mapped windows at once, of any file. */
bool map_eagerly(void);

/*
 * Counts a read of a specialised file that its window has not got.  Has the file earned a
 * mapped window?
 */
bool map_earned(struct file *file, uint64_t offset, size_t len);

/* Gives it one, if its word is `word`.  In any case that changes: look again. */
void map_make(struct file *file, uint64_t word);

/*
 * Copies from the mapped window of a file that was seen with `word`.  False: there is none,
 * or not for this.  As with every window, what is copied counts only if the word stays.
 */
bool map_copy(struct file *file, uint64_t word, uint64_t offset, void *buf, size_t len);

/* Puts zeros in its place: the file is let go, a reader copies on and finds out. */
void map_blank(const struct map *map);

/* Takes it away, if there is one; under LOCKED. */
void map_drop(struct file *file);

/* No mapped windows any more, because of `why`. */
void map_forbid(enum guard why);

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_MAP_H */
