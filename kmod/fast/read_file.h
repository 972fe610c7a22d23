/* SPDX-License-Identifier: GPL-2.0 */
/* read_file.h - a small file opened, read and closed. */
#ifndef COSY_READ_FILE_H
#define COSY_READ_FILE_H

#include "fast/guard.h"

/*
 * COSY_OP read_file: openat(dirfd, path, flags), read up to the end of the file or until
 * `size` bytes are at user address `to`, close.  Bytes, or the error of the call that
 * failed; the file is closed either way.  A read that would have to be restarted fails
 * with -EINTR, and so does reading on for more than a second while a signal waits.  Non-zero run->status: opening is to be restarted, and nothing is done.
 */
s64 cosy_read_whole(struct cosy_activation *run, s32 dirfd, u64 path, u64 to, u64 size, u32 flags);

#endif /* COSY_READ_FILE_H */
