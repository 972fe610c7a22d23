/* SPDX-License-Identifier: GPL-2.0 */
/* attributes.h - what stat(2) tells of a file. */
#ifndef COSY_ATTRIBUTES_H
#define COSY_ATTRIBUTES_H

#include <linux/path.h>
#include <linux/types.h>

/* Bytes of struct stat. */
#define COSY_STAT_SIZE 144

/*
 * As newfstatat(2) once it has found `path`, which the caller holds: the security
 * module's say, then the file system's answer, then a struct stat at `to`, which
 * cosy_reach has bounded.  `flags` are newfstatat's.  0, -EFAULT, or their error;
 * nothing is written then, but for what lies before a fault.
 */
int cosy_attributes(const struct path *path, int flags, u8 *to);

#endif /* COSY_ATTRIBUTES_H */
