/* SPDX-License-Identifier: MIT */
/*
 * filter.h - queries which calls the seccomp filters of this thread let through.
 *
 * A filter may kill the program for a call, so libcosy must not try calls to find out.  A read of
 * /dev/cosy reports them, but by then a filter may forbid opening it.  So a program that could arm
 * a filter, because one of its objects refers to prctl or syscall, opens the device at the start,
 * and so do its fork children.  The context uses that descriptor when the first region is to run in
 * the kernel, if the filters let libcosy's further calls through.  All other programs open the
 * device only then: filters that were there before them have let the dynamic linker open files.
 *
 * Before it has asked, libcosy calls fstat, to see whether the descriptor is still its own, and the
 * read, and nothing else; what follows is in needed[] (filter.c) and in docs/use/containers.md.
 */
#ifndef COSY_LIB_FILTER_H
#define COSY_LIB_FILTER_H

#include <stdbool.h>

/* Opens the device at the start of a process that could arm a filter. */
void libcosy_filter_prepare(void);

/*
 * Does the same in a fork child.  context_fd is the context's inherited descriptor, or -1.  Returns
 * whether a fork child of this child has to do so.
 */
bool libcosy_filter_prepare_child(int context_fd);

/*
 * Returns a descriptor of the device, which it opens if need be and which filters let this thread
 * use.  Otherwise returns a negative errno with the reason in *why: open's, or -EPERM if a filter
 * forbids the use, or may forbid it.  Leaves errno as it is.  Called under the context's lock,
 * before any other system call.  The caller then calls libcosy_filter_settle or libcosy_filter_put.
 */
int libcosy_filter_take(const char **why);

/* Gives what was taken a high number, when it is to stay open.  Returns that. */
int libcosy_filter_settle(int fd);

/*
 * Takes a descriptor back that the caller will want later: keeps it where the device has to be open
 * from the start, else closes it.
 */
void libcosy_filter_put(int fd);

/* Actions of libcosy besides the use of its open descriptor. */
enum {
	LIBCOSY_FILTER_OPENS = 1, /* opens the device */
	LIBCOSY_FILTER_MOVES = 2, /* gives a descriptor another number (libcosy_move_fd) */
	LIBCOSY_FILTER_REOPENS = LIBCOSY_FILTER_OPENS | LIBCOSY_FILTER_MOVES,
	LIBCOSY_FILTER_THREADS = 4, /* sets a thread up in a process that has several */
};

enum libcosy_filter_answer {
	COSY_FILTER_LETS,
	COSY_FILTER_FORBIDS, /* for good */
	COSY_FILTER_UNKNOWN, /* fd is not the device any more */
};

/*
 * Asks by fd, the context's, whether filters that may have been armed since it was opened still let
 * through what libcosy needs to set something up.  *why is set where they do not.
 */
enum libcosy_filter_answer libcosy_filter_lets(int fd, const char **why);

/* True if no filter can have been armed since the process began.  Makes no system call. */
bool libcosy_filter_none(void);

/* True if clock_gettime may be called, in a process that has opened the device. */
bool libcosy_filter_lets_clock(void);

#endif /* COSY_LIB_FILTER_H */
