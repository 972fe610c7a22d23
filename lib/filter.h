/* SPDX-License-Identifier: MIT */
/*
 * filter.h - is a seccomp filter armed already?
 *
 * A filter may kill for an ioctl that it does not know, so the first RUN must not
 * be how libcosy learns of one.  /proc/self/status tells, but opening it may be
 * forbidden by then too: it is opened when the program starts, and in a fork child, and
 * read, once, when the first region begins.
 */
#ifndef COSY_LIB_FILTER_H
#define COSY_LIB_FILTER_H

#include <stdbool.h>

/* At the start of the process. */
void libcosy_filter_prepare(void);

/* Before anything else is asked of the kernel; the first call alone looks. */
bool libcosy_filter_armed(void);

#endif /* COSY_LIB_FILTER_H */
