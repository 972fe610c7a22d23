/* SPDX-License-Identifier: MIT */
/* window.h - decides when a file gets a window, and fills it. */
#ifndef COSY_RUN_WINDOW_H
#define COSY_RUN_WINDOW_H

#include "file/file.h"
#include "file/price.h"

#pragma GCC visibility push(hidden)

/*
 * Bytes that long reads of one file fetch before its size tells whether they came again and again.
 */
#define WINDOW_REREAD (4 << 20)

/* Counts an ordinary read of `len` bytes.  True: the file has earned a window. */
bool window_earned(struct file *file, int fd, size_t len);

/*
 * Counts most reads, and returns true.  False: the file may have earned a window, and nothing was
 * counted; ask window_earned.
 */
static inline bool window_far(struct file *file, size_t len)
{
	if (likely(len <= WINDOW_MAX_LENGTH)) {
		int64_t credit = file->credit + WINDOW_SAVED - (int64_t)(len / WINDOW_SAVED_LESS);

		if (unlikely(credit >= WINDOW_COST))
			return false;
		file->credit = credit;
	} else {
		uint64_t fetched = file->fetched + len;

		if (unlikely(fetched >= WINDOW_REREAD))
			return false;
		file->fetched = fetched;
	}
	return true;
}

/* Makes a plain file specialised, or says why not and returns false. */
bool window_specialise(struct file *file, int fd);

/*
 * A specialised file, seen with `word`, has not got [offset, offset + len) in its
 * window.  True: fetched some of it; look again.  False: an ordinary read is better.
 */
bool window_fetch(struct file *file, uint64_t word, uint64_t offset, size_t len);

/* Returns the empty window of files whose position is kept but that have no window. */
struct window *window_none(void);

/* True if the rules let this library touch the file.  Notes how large its window may be. */
bool window_policy(struct file *file, int fd);

/* True if the file is on a file system that is known to work as this library expects. */
bool window_filesystem(int fd);

#pragma GCC visibility pop

#endif /* COSY_RUN_WINDOW_H */
