/* SPDX-License-Identifier: MIT */
/*
 * filter.h - finds out what the seccomp filters of this thread let through.
 *
 * A filter may kill the program for a call, so libcosy must not try calls to find out.  A read of
 * /dev/cosy tells, but a filter may forbid to open it by then.  So a program that could arm a
 * filter, since one of its objects refers to prctl or syscall, opens the device at the start, and
 * so do its fork children.  The context uses that descriptor when the first region is to run in
 * the kernel, if the filters let libcosy's further calls through.  All other programs open the
 * device only then: filters that were there before them have let the dynamic linker open files.
 */
#ifndef COSY_LIB_FILTER_H
#define COSY_LIB_FILTER_H

#include <stdbool.h>

/*
 * Opens the device at the start of a process or fork child, if that cannot wait.  Returns whether
 * a fork child has to do so, too.
 */
bool libcosy_filter_prepare(void);

/*
 * Returns a descriptor of the device, or -1.  Then *why is NULL when the caller may open the
 * device now; otherwise it says why filters forbid it, or how one may be armed unseen.  To be
 * called before anything else is asked of the kernel; what was opened at the start it hands out
 * once.
 */
int libcosy_filter_take(const char **why);

/*
 * Takes a descriptor back that the caller will want later: keeps it where the device has to be open
 * from the start, else closes it.
 */
void libcosy_filter_put(int fd);

/* What the caller does besides using the descriptor that it has. */
enum {
	LIBCOSY_FILTER_OPENS = 1, /* opens the device */
	LIBCOSY_FILTER_MOVES = 2, /* gives a descriptor another number (libcosy_move_fd) */
	LIBCOSY_FILTER_REOPENS = LIBCOSY_FILTER_OPENS | LIBCOSY_FILTER_MOVES,
};

/*
 * Returns why the filters that are armed forbid the use of a descriptor of the device, with `uses`
 * besides (LIBCOSY_FILTER_ bits), or NULL.
 */
const char *libcosy_filter_forbids(int fd, unsigned int uses);

#endif /* COSY_LIB_FILTER_H */
