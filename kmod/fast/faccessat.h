/* SPDX-License-Identifier: GPL-2.0 */
/* faccessat.h - what access(2) does after the file is found. */
#ifndef COSY_FACCESSAT_H
#define COSY_FACCESSAT_H

#include <linux/path.h>
#include <linux/types.h>

/*
 * Returns whether the real user is the one whose permissions count otherwise, and has the
 * capabilities that access(2) gives it: none, or those of root.
 */
bool cosy_user_is_real(void);

/*
 * Checks the permissions of `mode` for the file, for the user whose permissions count: 0, or the
 * error of access(2).
 */
s64 cosy_access_check(const struct path *path, u32 mode);

#endif /* COSY_FACCESSAT_H */
