/* SPDX-License-Identifier: GPL-2.0 */
/* getdents.h - the entries of a directory, and all of them with their attributes. */
#ifndef COSY_GETDENTS_H
#define COSY_GETDENTS_H

#include "fast/guard.h"

/* Arguments and result are getdents64(2)'s; COSY_ORDINARY, and nothing done, when a guard fails. */
s64 cosy_fast_getdents(struct cosy_activation *run, u32 fd, u64 to, u32 size);

/*
 * COSY_OP scan_dir: as getdents64(fd, to, size), but with struct cosy_dirent, and then
 * newfstatat(fd, its name, its stat, flags) for each of them.  At most 64 KB at once.
 * Bytes, 0 at the end, or getdents64's error.
 */
s64 cosy_scan_directory(struct cosy_activation *run, u32 fd, u64 to, u64 size, s32 flags);

#endif /* COSY_GETDENTS_H */
