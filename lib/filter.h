/* SPDX-License-Identifier: MIT */
/*
 * filter.h - what do the seccomp filters of this thread let through?
 *
 * A filter may kill for a call that it does not know, so none must be how libcosy learns of
 * one.  /dev/cosy tells it in a read, but opening it may be forbidden by then.  So in a program
 * that could arm a filter, since some object of it refers to prctl or syscall, and in its fork
 * children, the device is opened at the start.  The descriptor becomes the context's when the
 * first region is to run in the kernel, if the filters let libcosy's further calls through.  In
 * all other programs it can wait: a filter that was there before them let the dynamic linker
 * open files.
 */
#ifndef COSY_LIB_FILTER_H
#define COSY_LIB_FILTER_H

#include <stdbool.h>

/* At the start of the process and of a fork child: opens the device if that cannot wait. */
void libcosy_filter_prepare(void);

/*
 * Before anything else is asked of the kernel: a descriptor of the device, or -1 and *why, which
 * is NULL when it may be opened now, otherwise why filters forbid it, or why one may be armed
 * unseen.  The first call alone has a descriptor or a reason.
 */
int libcosy_filter_take(const char **why);

/*
 * Why a descriptor of the device is not to be used under the filters that there are, or NULL;
 * with `reopens` the device is to be opened again, too.
 */
const char *libcosy_filter_forbids(int fd, bool reopens);

#endif /* COSY_LIB_FILTER_H */
