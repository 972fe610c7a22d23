/* SPDX-License-Identifier: MIT */
/* window.h - when a file gets a window, and what is in it. */
#ifndef COSY_READ_WINDOW_H
#define COSY_READ_WINDOW_H

#include "file.h"

#pragma GCC visibility push(hidden)

/* Longer reads are served by a window only if it holds the whole file. */
#define WINDOW_LONGEST 16384

/* Counts an ordinary read of `len` bytes.  Has the file earned a window? */
bool window_earned(struct file *file, int fd, size_t len);

/* Makes a plain file specialised, or says why not and returns false. */
bool window_specialise(struct file *file, int fd);

/*
 * A specialised file, seen with `word`, has not got [offset, offset + len) in its
 * window.  True: fetched some of it; look again.  False: an ordinary read is better.
 */
bool window_fetch(struct file *file, uint64_t word, uint64_t offset, size_t len);

/* Gives the window back, and the mapped one; under HELD. */
void window_drop(struct file *file);

/* In the child of fork. */
void window_share_child(void);

/* The window of a file whose position is kept, but that has none: nothing is in it. */
struct window *window_none(void);

/* Do the rules let this library touch the file?  Notes how large its window may be. */
bool window_policy(struct file *file, int fd);

/* Is the file on a file system that is known to work as this library expects? */
bool window_filesystem(int fd);

#pragma GCC visibility pop

#endif /* COSY_READ_WINDOW_H */
