/* SPDX-License-Identifier: GPL-2.0 */
/* write.h - declarations shared by the ways of writing a view. */
#ifndef COSY_WRITE_H
#define COSY_WRITE_H

#include "view/view.h"

struct address_space;
struct file;

/* Longest write that is not left to the ordinary call. */
#define COSY_MAX_WRITE (COSY_VIEW_PAGES * PAGE_SIZE)

/*
 * Longest write from memory other than the shared buffer: it is copied to the kernel's stack first.
 */
#define COSY_MAX_SMALL_WRITE 256

struct cosy_writing {
	struct file *file; /* cosy_cached_file, open for writing, held */
	loff_t asked;	   /* the call's position, which the checks are made for */
	loff_t position;   /* where the bytes go: `asked`, or with `appends` the end of file */
	bool appends;	   /* O_APPEND */
	u32 count;	   /* 1 up, at most COSY_MAX_WRITE */
	u8 *copy;	   /* the bytes, or NULL: they are in the shared buffer */
	loff_t *end;	   /* the position after the write goes here if it succeeds */
};

/*
 * Writes into pages of tmpfs or ext4 that are in the page cache already (cached_write.c).  The
 * bytes are in write->copy, or in the shared buffer at `address`.  The caller has written back all
 * views of the bytes of the file that are written, except one that is written to its own place.
 * COSY_ORDINARY: a guard failed, nothing is done.
 */
s64 cosy_cached_write(struct cosy_activation *run, const struct cosy_writing *write, u64 address);

/* Does accounting and notification for a write that returned `written`, under freeze protection. */
void cosy_write_done(struct file *file, ssize_t written);

/* --- ext4 (ext4_write.c) ------------------------------------------------------------------ */

/* Learns of ext4, which may be a module that comes and goes. */
int cosy_ext4_init(void);
void cosy_ext4_exit(void);

/* Returns whether ext4 allocates a file's blocks late: its `delalloc`, the default. */
bool cosy_ext4_delays(const struct address_space *mapping);

#endif /* COSY_WRITE_H */
